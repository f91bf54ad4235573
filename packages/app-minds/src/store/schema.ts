// cspell:ignore beside manieth -- the SQL of published steps never changes
import type { Migration } from '@causeway/store'

/**
 * Columns `*_at` are Unix times in milliseconds. `sim_time` and `last_seen` are game minutes. Published migrations
 * never change.
 */
export const migrations: readonly Migration[] = [
  {
    name: 'minds',
    up: `
      CREATE TABLE mind (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        mind_id TEXT NOT NULL UNIQUE,
        entity_id TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('active', 'released')),
        config_json TEXT NOT NULL,
        config_hash TEXT NOT NULL,
        working_memory_json TEXT NOT NULL,
        state_json TEXT NOT NULL,
        rev INTEGER NOT NULL,
        rng_seed INTEGER NOT NULL,
        -- The space in which every lasting memory has a vector.
        embedder_id TEXT,
        memory_count INTEGER NOT NULL DEFAULT 0,
        daily_count INTEGER NOT NULL DEFAULT 0,
        decision_count INTEGER NOT NULL DEFAULT 0,
        last_sim_time INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE daily_memory (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        content TEXT NOT NULL,
        importance REAL NOT NULL,
        sim_time INTEGER, x INTEGER, y INTEGER,
        kind TEXT NOT NULL,
        subject TEXT,
        tags_json TEXT NOT NULL,
        words_hash TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        last_error TEXT
      ) STRICT;
      CREATE INDEX daily_of_mind ON daily_memory (mind_seq, sim_time, seq);
      CREATE TABLE memory (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        content TEXT NOT NULL,
        words_hash TEXT NOT NULL,
        importance REAL NOT NULL,
        sim_time INTEGER, x INTEGER, y INTEGER,
        kind TEXT NOT NULL CHECK (kind IN ('episodic', 'seed', 'reflection', 'fact')),
        subject TEXT,
        tags_json TEXT NOT NULL,
        valid_to INTEGER,
        superseded_by TEXT,
        merged_count INTEGER NOT NULL DEFAULT 0,
        consolidated_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX memory_by_time ON memory (mind_seq, sim_time);
      CREATE INDEX memory_by_importance ON memory (mind_seq, importance);
      CREATE INDEX memory_by_words ON memory (mind_seq, words_hash);
      -- Beside the memories, so that what came to mind is counted on one page for all memories of a mind.
      CREATE TABLE memory_access (
        memory_seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
        access_count INTEGER NOT NULL,
        last_access_sim_time INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE memory_vec (
        memory_seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
        embedder_id TEXT NOT NULL,
        mind_seq INTEGER NOT NULL,
        vec BLOB NOT NULL,
        PRIMARY KEY (memory_seq, embedder_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX vec_of_mind ON memory_vec (mind_seq, embedder_id, memory_seq);

      -- Each word is written with its mind before it (mindWord), so that a search visits no word of another mind.
      CREATE VIRTUAL TABLE memory_fts USING fts5(words, content='', contentless_delete=1, tokenize='porter unicode61');
      CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
        UPDATE mind SET memory_count = memory_count + 1 WHERE seq = new.mind_seq;
      END;
      CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
        DELETE FROM memory_fts WHERE rowid = old.seq;
        UPDATE mind SET memory_count = memory_count - 1 WHERE seq = old.mind_seq;
      END;
      CREATE TRIGGER daily_added AFTER INSERT ON daily_memory BEGIN
        UPDATE mind SET daily_count = daily_count + 1 WHERE seq = new.mind_seq;
      END;
      CREATE TRIGGER daily_removed AFTER DELETE ON daily_memory BEGIN
        UPDATE mind SET daily_count = daily_count - 1 WHERE seq = old.mind_seq;
      END;

      CREATE TABLE place (
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        entity_id TEXT NOT NULL,
        last_seen INTEGER NOT NULL,
        place_json TEXT NOT NULL,
        PRIMARY KEY (mind_seq, entity_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE conversation (
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        interaction_id TEXT NOT NULL,
        name TEXT NOT NULL,
        participants_json TEXT NOT NULL,
        initiator_id TEXT,
        opened_at INTEGER NOT NULL,
        last_seen INTEGER NOT NULL,
        closed_at INTEGER,
        PRIMARY KEY (mind_seq, interaction_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE conversation_message (
        mind_seq INTEGER NOT NULL,
        interaction_id TEXT NOT NULL,
        ord INTEGER NOT NULL,
        message_json TEXT NOT NULL,
        PRIMARY KEY (mind_seq, interaction_id, ord),
        FOREIGN KEY (mind_seq, interaction_id) REFERENCES conversation (mind_seq, interaction_id) ON DELETE CASCADE
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE event (
        seq INTEGER PRIMARY KEY,
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        timestamp REAL NOT NULL,
        event_type TEXT NOT NULL,
        payload_json TEXT NOT NULL
      ) STRICT;
      CREATE INDEX event_of_mind ON event (mind_seq, seq);
      CREATE TABLE bid (
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        bid_id TEXT NOT NULL,
        bid_json TEXT NOT NULL,
        PRIMARY KEY (mind_seq, bid_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE decision (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        -- The mind's how-manieth, from 1.
        ord INTEGER NOT NULL,
        request_id TEXT NOT NULL,
        sim_time INTEGER NOT NULL,
        observation_hash TEXT NOT NULL,
        selector TEXT NOT NULL,
        status TEXT NOT NULL,
        error_code TEXT,
        action_json TEXT,
        explanation_json TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX decision_of_mind ON decision (mind_seq, ord);
      CREATE TABLE llm_call (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        mind_seq INTEGER NOT NULL REFERENCES mind (seq) ON DELETE CASCADE,
        decision_seq INTEGER,
        sim_day INTEGER NOT NULL,
        step TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        model_requested TEXT NOT NULL,
        model_served TEXT,
        status INTEGER,
        error_code TEXT,
        latency_ms INTEGER NOT NULL,
        prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, cache_write_tokens INTEGER,
        cost REAL,
        cost_source TEXT NOT NULL,
        made_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX llm_call_of_mind ON llm_call (mind_seq, made_at);
      CREATE INDEX llm_call_by_time ON llm_call (made_at);

      -- Answers of requests that may come again. By the mind's name: an answer outlives a mind that is forgotten.
      CREATE TABLE request (
        mind_id TEXT NOT NULL,
        request_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        answer_json TEXT NOT NULL,
        made_at INTEGER NOT NULL,
        PRIMARY KEY (mind_id, request_id, tool)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX request_by_time ON request (made_at);

      CREATE TABLE embedding_model (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
    `,
  },
  {
    name: 'reflections',
    up: `
      -- Importance of lasting memories since the mind last reflected.
      ALTER TABLE mind ADD COLUMN unreflected REAL NOT NULL DEFAULT 0;
      -- Goes up with each change of lasting memories.
      ALTER TABLE mind ADD COLUMN memory_rev INTEGER NOT NULL DEFAULT 0;
      CREATE TABLE reflection (
        memory_seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
        mind_seq INTEGER NOT NULL,
        -- What it is about: of two about the same, the newer has replaced the older.
        about TEXT NOT NULL,
        evidence_json TEXT NOT NULL
      ) STRICT;
      CREATE INDEX reflection_of_mind ON reflection (mind_seq, about);
    `,
  },
]
