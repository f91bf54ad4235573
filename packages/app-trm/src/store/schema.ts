import type { DataPart } from '@causeway/app-kit'
import type { Migration } from '@causeway/store'

/** Published migrations never change. */
export const migrations: readonly Migration[] = [
  {
    name: 'refinement',
    up: `
      CREATE TABLE session (
        id TEXT PRIMARY KEY, config TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL, baseline TEXT,
        rev INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE landing (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES session (id), kind TEXT NOT NULL,
        before TEXT NOT NULL, after TEXT
      ) STRICT;
      CREATE INDEX landing_session ON landing (session_id, id);
      CREATE TABLE step (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES session (id), number INTEGER NOT NULL,
        kind TEXT NOT NULL, status TEXT NOT NULL, request TEXT NOT NULL, marker TEXT NOT NULL, mark TEXT, stage TEXT,
        reason TEXT, landing_id INTEGER, standing_before TEXT NOT NULL, result TEXT, started_ms INTEGER NOT NULL,
        undone_ms INTEGER
      ) STRICT;
      CREATE INDEX step_session ON step (session_id, id);
      CREATE INDEX step_request ON step (request);
      CREATE TABLE output (
        step_id INTEGER NOT NULL, stage TEXT NOT NULL, stdout BLOB NOT NULL, stderr BLOB NOT NULL,
        PRIMARY KEY (step_id, stage)
      ) STRICT;
      CREATE TABLE checkpoint (
        id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session (id), description TEXT, standing TEXT NOT NULL,
        live TEXT NOT NULL, landing_id INTEGER NOT NULL, made_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX checkpoint_session ON checkpoint (session_id);
      CREATE TABLE seen (
        session_id TEXT NOT NULL, path TEXT NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (session_id, path)
      ) STRICT;
      CREATE TABLE request (id TEXT PRIMARY KEY, answer TEXT NOT NULL, made_ms INTEGER NOT NULL) STRICT;
      CREATE INDEX request_age ON request (made_ms);
    `,
  },
  {
    name: 'commands',
    up: `
      CREATE TABLE command (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, occasion TEXT NOT NULL, stage TEXT NOT NULL,
        command TEXT NOT NULL, cwd TEXT NOT NULL, pid INTEGER NOT NULL, started_ms INTEGER NOT NULL, exit_code INTEGER,
        ms INTEGER, bytes INTEGER
      ) STRICT;
      CREATE INDEX command_session ON command (session_id, id);
    `,
  },
  {
    name: 'texts as read',
    up: 'ALTER TABLE seen ADD COLUMN text BLOB;',
  },
  {
    name: 'snapshots without git',
    up: `
      CREATE TABLE content (
        blob TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, kept_ms INTEGER NOT NULL,
        PRIMARY KEY (blob, part)
      ) STRICT;
      CREATE TABLE snapshot (id TEXT PRIMARY KEY, list TEXT NOT NULL) STRICT;
      CREATE TABLE snapshot_content (
        blob TEXT NOT NULL, snapshot_id TEXT NOT NULL, PRIMARY KEY (blob, snapshot_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX snapshot_content_id ON snapshot_content (snapshot_id);
    `,
  },
  {
    name: 'snapshot of the start',
    up: 'ALTER TABLE session ADD COLUMN start TEXT;',
  },
]

export const dataParts: readonly DataPart[] = [
  { path: 'trm/work/', kind: 'passing' },
  { path: 'trm/shadow.git/', kind: 'files' },
  { path: 'trm.db', kind: 'database', schema: migrations.map(({ name }) => name) },
]
