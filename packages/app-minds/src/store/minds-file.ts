/** `minds.db`: every method is one whole transaction; what is computed, is computed before. */
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { dataFailure, openDatabase } from '@causeway/store'
import { lexicalScores, type Postings, questionWords } from '../domain/lexical.ts'
import { dayOf } from '../domain/policy/state.ts'
import type { Experience } from '../domain/reflect.ts'
import { supersedes } from '../domain/supersede.ts'
import type { Limits } from '../limits.ts'
import { memoryId } from './hash.ts'
import { type Lasting, memoryTable } from './memory-table.ts'
import { mindTable, type NewMind } from './mind-table.ts'
import { recordTable, type Usage } from './record-table.ts'
import { reflectionTable } from './reflection-table.ts'
import { migrations } from './schema.ts'
import type {
  AnsweredRequest,
  DecisionChange,
  Material,
  MemoryRow,
  MindRow,
  MindSnapshot,
  NewReflection,
  ReflectionRow,
  Standing,
  StoredConversation,
  StoredDecision,
} from './types.ts'
import { worldTable } from './world-table.ts'

/** How the file is opened. */
export interface FileOptions {
  readonly dir: string
  readonly now: () => number
  readonly steady?: (() => number) | undefined
  readonly limits: Limits
  readonly durability: 'normal' | 'full'
}

/** What became of a batch of daily memories. */
export interface Moved {
  readonly moved: number
  readonly merged: number
  /** Lasting memories that were added, with their vectors. */
  readonly added: readonly number[]
}

/** How a mind came to be. */
export interface Made {
  readonly seq: number
  readonly resumed: boolean
  readonly seeded: number
  /** Memories of a mind that was replaced are gone. */
  readonly replaced: boolean
}

/** Which material is wanted. */
export interface WantedMaterial {
  /** Words of questions, each once. */
  readonly words: readonly string[]
  readonly today?: boolean
  /** So many of the newest and of the most important memories, and the last vector of a space. */
  readonly standing?: { readonly beside: number; readonly embedderId: string } | undefined
}

/** The material that was wanted. */
export type FoundMaterial = Pick<Material, 'postings'> & Partial<Material>

/** Pages of the log, 4 KiB each, after which they are brought into the file. */
const checkpointPages = 4000

/** Memory for pages, KiB: a thousand minds take turns, and each comes back to what it knows. */
const cacheKibibytes = 16_384

/** The file of all minds. */
export type MindsFile = ReturnType<typeof openMindsFile>

/** Opens the file in the data folder; throws as `openDatabase` does. */
export function openMindsFile({ dir, now, steady, limits, durability }: FileOptions) {
  const file = join(dir, 'minds.db')
  const db = openDatabase(file, { migrations, now, synchronous: durability })
  // A decision writes a few pages that the next one writes again: checkpoints that come seldom write them once.
  db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  db.pragma(`cache_size = ${-cacheKibibytes}`)
  const minds = mindTable(db, now)
  const memories = memoryTable(db, now)
  const model = db.prepare<[string], Uint8Array>('SELECT bytes FROM embedding_model WHERE name = ?').pluck()
  const keepModel = db.prepare('INSERT OR REPLACE INTO embedding_model (name, bytes) VALUES (?, ?)')
  const reflections = reflectionTable(db, memories)
  const world = worldTable(db, limits)
  const records = recordTable(db, { now, steady }, limits)

  /** One transaction; what SQLite says becomes `STORE_ERROR`, so that nothing of it reaches a client. */
  const whole = async <T>(work: () => T): Promise<T> => {
    try {
      return db.transaction(work).immediate()
    } catch (error) {
      throw storeFailure(error, file)
    }
  }
  const read = async <T>(work: () => T): Promise<T> => {
    try {
      return db.transaction(work).deferred()
    } catch (error) {
      throw storeFailure(error, file)
    }
  }
  /** The answer of an earlier request of the same id, else what `work` makes, kept as such. */
  const once = <T>(request: Omit<AnsweredRequest, 'answer'>, work: () => T): Promise<T> =>
    whole(() => {
      const earlier = records.answered(request.mind_id, request.request_id, request.tool)
      if (earlier !== undefined) return { ...(earlier as T), replayed: true }
      const answer = work()
      records.answer({ ...request, answer })
      return answer
    })
  const active = (mindId: string): MindRow => {
    const mind = minds.find(mindId)
    if (mind === undefined || mind.status !== 'active') throw mindNotFound(mindId)
    return mind
  }

  return {
    /** A mind that is active; throws `MIND_NOT_FOUND`. */
    mind: (mindId: string): Promise<MindRow> => read(() => active(mindId)),
    list: (after: string, limit: number): Promise<readonly MindRow[]> => read(() => minds.list(after, limit)),
    /** The answer of an earlier request of this id, else all that a decision starts from; throws `MIND_NOT_FOUND`. */
    begin: (
      { mind_id, request_id, tool }: Omit<AnsweredRequest, 'answer'>,
      interactionIds: readonly string[],
    ): Promise<{ readonly earlier: unknown } | { readonly snapshot: MindSnapshot }> =>
      read(() => {
        const earlier = records.answered(mind_id, request_id, tool)
        return earlier === undefined ? { snapshot: snapshotOf(mind_id, interactionIds) } : { earlier }
      }),
    conversations: (mindId: string): Promise<readonly StoredConversation[]> =>
      read(() => world.conversations(active(mindId).seq)),
    answered: (mindId: string, requestId: string, tool: string): Promise<unknown> =>
      read(() => records.answered(mindId, requestId, tool)),
    once,

    /** Makes a mind, or takes one up again; `answer` says what the caller is told. */
    create: <T>(
      request: Omit<AnsweredRequest, 'answer'>,
      mind: NewMind,
      answer: (made: Made) => T,
    ): Promise<T> =>
      once(request, () => {
        const existing = minds.find(mind.mind_id)
        const { if_exists, initial_long_term_memories: seeds } = mind.config
        if (existing !== undefined && if_exists === 'error')
          throw new CausewayError('MIND_EXISTS', `Mind ${mind.mind_id} exists`, {
            data: { mind_id: mind.mind_id },
          })
        if (existing !== undefined && if_exists === 'resume') {
          minds.resume(existing.seq, mind)
          return answer({ seq: existing.seq, resumed: true, seeded: 0, replaced: false })
        }
        if (existing !== undefined) minds.remove(existing.seq)
        else if (minds.active() >= limits.minds)
          throw new CausewayError('LIMIT_EXCEEDED', `minds: the limit is ${limits.minds}`, {
            data: { limit: 'minds', most: limits.minds },
          })
        const seq = minds.insert(mind)
        const unique = [...new Set(seeds)]
        for (const content of unique)
          memories.add(seq, {
            id: memoryId(mind.mind_id, seq, 'seed', content),
            content,
            importance: 5,
            sim_time: null,
            location: null,
            kind: 'seed',
            subject: null,
            tags: [],
          })
        return answer({ seq, resumed: false, seeded: unique.length, replaced: existing !== undefined })
      }),

    /** Everything that one decision changed. Throws `STORE_ERROR` where the mind was changed meanwhile. */
    commit: (change: DecisionChange): Promise<void> =>
      whole(() => {
        const { seq, time, decision, request } = change
        if (!minds.decided(change, change)) {
          // Forgotten or released, or changed by another process on the same file: the caller starts again.
          throw new CausewayError('STORE_ERROR', 'the mind was changed while it decided', {
            data: { conflict: true },
          })
        }
        for (const place of change.places) world.putPlace(seq, place)
        if (change.knownPlaces > limits.places) world.trimPlaces(seq)
        for (const conversation of change.conversations) world.putConversation(seq, conversation, time)
        for (const id of change.closed) world.close(seq, id, time)
        if (change.hasConversations) world.closeOld(seq, time)
        world.addEvents(seq, change.events)
        for (const bid of change.bids.received) world.putBid(seq, bid)
        for (const id of change.bids.settled) world.dropBid(seq, id)
        for (const memory of change.memories) memories.addDaily(seq, memory)
        if (change.recalled.length > 0) memories.touch(change.recalled, time)
        const decisionSeq = records.addDecision(seq, request.request_id, decision)
        records.addCalls(seq, decisionSeq, dayOf(time), change.calls)
        if (request.answer !== undefined) records.answer(request)
      }),

    decision: (mindId: string, requestId: string | null): Promise<StoredDecision | undefined> =>
      read(() => records.decision(active(mindId).seq, requestId)),
    usage: (seq: number | null, since: number, simDay: number | null): Promise<Usage> =>
      read(() => records.usage(seq, since, simDay)),

    daily: (seq: number, limit?: number): Promise<readonly MemoryRow[]> =>
      read(() => memories.daily(seq, limit)),
    newest: (seq: number, limit: number): Promise<readonly MemoryRow[]> =>
      read(() => memories.newest(seq, limit)),
    bySeqs: (seqs: readonly number[]): Promise<readonly MemoryRow[]> => read(() => memories.bySeqs(seqs)),
    /** What there is for questions; members that are not wanted are absent. */
    material: ({ seq }: Pick<MindRow, 'seq'>, wanted: WantedMaterial): Promise<FoundMaterial> =>
      read(() => ({
        ...(wanted.today === true ? { today: memories.daily(seq) } : {}),
        postings: postingsOf(seq, wanted.words),
        ...(wanted.standing === undefined ? {} : { standing: standingOf(seq, wanted.standing) }),
      })),

    /** Moves daily memories to those that last, with the ids they have; what says the same as one that lasts joins it. */
    consolidate: (mindSeq: number, embedderId: string, batch: readonly Lasting[]): Promise<Moved> =>
      whole(() => {
        const added: number[] = []
        let moved = 0
        let merged = 0
        let importance = 0
        for (const { memory, vector } of batch) {
          if (!memories.dropDaily(memory.id)) continue
          moved += 1
          importance += memory.importance
          const alike = memories.alike(mindSeq, memory)
          const seq = alike === undefined ? memories.add(mindSeq, memory) : undefined
          if (alike !== undefined) memories.merge(alike.seq, memory)
          if (seq === undefined) merged += 1
          else {
            memories.addVector(mindSeq, seq, embedderId, vector)
            added.push(seq)
          }
          if (memory.kind === 'fact') replaceOlder(mindSeq, { ...memory, id: alike?.id ?? memory.id })
        }
        if (moved > 0) minds.remembered(mindSeq, importance)
        return { moved, merged, added }
      }),
    /** The newest lasting memories that conclusions are drawn from. */
    experiences: (mindSeq: number, most: number): Promise<readonly Experience[]> =>
      read(() => reflections.experiences(mindSeq, most)),
    /** Makes conclusions last, and gives how many of them are new; the next reflection begins to count anew. */
    reflect: (mindSeq: number, embedderId: string, drawn: readonly NewReflection[]): Promise<number> =>
      whole(() => {
        minds.reflected(mindSeq)
        return drawn.filter((one) => reflections.add(mindSeq, embedderId, one)).length
      }),
    reflections: (seq: number, most: number): Promise<readonly ReflectionRow[]> =>
      read(() => reflections.list(seq, most)),
    /** Id of a reflection -> ids of the memories that it rests on. */
    evidence: (ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> =>
      read(() => reflections.evidence(ids)),
    failDaily: (ids: readonly string[], error: string): Promise<void> =>
      whole(() => {
        for (const id of ids) memories.failDaily(id, error)
      }),
    evict: (mindSeq: number, time: number | null, count: number): Promise<number> =>
      whole(() => {
        minds.remembered(mindSeq, 0)
        return memories.evict(mindSeq, time, count)
      }),
    unembedded: (mindSeq: number, embedderId: string, limit: number): Promise<readonly MemoryRow[]> =>
      read(() => memories.unembedded(mindSeq, embedderId, limit)),
    /** Adds vectors to lasting memories; `isLast` where none is without one then. */
    addVectors: (
      mindSeq: number,
      embedderId: string,
      rows: readonly (readonly [number, Uint8Array | null])[],
      isLast: boolean,
    ) =>
      whole(() => {
        for (const [seq, vector] of rows) memories.addVector(mindSeq, seq, embedderId, vector)
        minds.remembered(mindSeq, 0)
        if (isLast) minds.embedded(mindSeq, embedderId)
      }),
    /** Vectors of a mind in the order of their rows, from after a row on; read at once, used by a cache. */
    vectors: (mindSeq: number, embedderId: string, after: number) =>
      memories.vectors(mindSeq, embedderId, after),

    release: (mindId: string): boolean => {
      const mind = minds.find(mindId)
      if (mind === undefined) return false
      minds.release(mind.seq)
      return true
    },
    relink: (mindId: string, entityId: string): MindRow => {
      const mind = active(mindId)
      minds.relink(mind.seq, entityId)
      return mind
    },
    /** Deletes a mind with all that it has; false where there is none. */
    remove: (mindId: string): boolean => {
      const mind = minds.find(mindId)
      if (mind === undefined) return false
      minds.remove(mind.seq)
      return true
    },
    model: (name: string): Promise<Uint8Array | undefined> => read(() => model.get(name)),
    keepModel: (name: string, bytes: Uint8Array): Promise<void> =>
      whole(() => void keepModel.run(name, bytes)),
    figures: () => ({
      minds_active: minds.active(),
      db_bytes:
        Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true })),
    }),
    close: (): void => void db.close(),
  }

  function snapshotOf(mindId: string, interactionIds: readonly string[]): MindSnapshot {
    const mind = active(mindId)
    const open = world.conversations(mind.seq)
    const closed = interactionIds.filter((id) => !open.some(({ interaction_id }) => interaction_id === id))
    const reopened = closed.map(
      (id): StoredConversation => ({
        interaction_id: id,
        interaction_name: '',
        participants: [],
        initiator_id: null,
        last_seen: 0,
        messages: world.messages(mind.seq, id),
      }),
    )
    return {
      mind,
      places: world.places(mind.seq),
      conversations: [...open, ...reopened],
      events: world.events(mind.seq),
      bids: world.bids(mind.seq),
    }
  }

  function standingOf(
    seq: number,
    { beside, embedderId }: NonNullable<WantedMaterial['standing']>,
  ): Standing {
    const rows = [...memories.newest(seq, beside), ...memories.weightiest(seq, beside)]
    return {
      rows: [...new Map(rows.map((row) => [row.seq, row])).values()],
      lastVector: memories.lastVector(seq, embedderId),
    }
  }

  function postingsOf(seq: number, words: readonly string[]): Postings {
    return new Map(words.map((word) => [word, memories.having(seq, word)]))
  }

  function replaceOlder(mindSeq: number, fact: Omit<MemoryRow, 'seq' | 'superseded_by'>): void {
    const words = questionWords(fact.content)
    const postings = postingsOf(mindSeq, words)
    const scores = lexicalScores(words, postings, { memories: mostCompared * 10, most: mostCompared })
    for (const older of memories.bySeqs([...scores.keys()]))
      if (older.kind === 'fact' && older.id !== fact.id && supersedes(fact, older))
        memories.supersede(older.id, fact.id, fact.sim_time)
  }
}

/** Memories that a new fact is held against: those that share most of its words. */
const mostCompared = 20

/** `Mind <id> not found`, the words of the original. */
export const mindNotFound = (mindId: string): CausewayError =>
  new CausewayError('MIND_NOT_FOUND', `Mind ${mindId} not found`, { data: { mind_id: mindId } })

function storeFailure(error: unknown, file: string): unknown {
  const isSqlite = error instanceof Error && /^SQLITE_/.test(String((error as { code?: unknown }).code))
  if (!isSqlite) return error
  return new CausewayError('STORE_ERROR', 'the memories could not be read or written', {
    cause: dataFailure(error, file),
  })
}
