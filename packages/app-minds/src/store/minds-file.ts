/** `minds.db`: every method is one whole transaction; what is computed, is computed before it. */
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { dataFailure, openDatabase } from '@causeway/store'
import type { Experience } from '../domain/reflect.ts'
import type { Limits } from '../limits.ts'
import { createMind, type Made } from './create-mind.ts'
import { commitDecision, snapshotOf } from './decision.ts'
import { type Moved, makeLasting } from './make-lasting.ts'
import { type FoundMaterial, materialOf, type WantedMaterial } from './material.ts'
import type { Lasting } from './memory-table.ts'
import type { NewMind } from './mind-table.ts'
import type { Usage } from './record-table.ts'
import { migrations } from './schema.ts'
import { openTables } from './tables.ts'
import type {
  AnsweredRequest,
  DecisionChange,
  MemoryRow,
  MindRow,
  MindSnapshot,
  NewReflection,
  ReflectionRow,
  StoredConversation,
  StoredDecision,
} from './types.ts'

/** How the file is opened. */
export interface FileOptions {
  readonly dir: string
  readonly now: () => number
  readonly steady?: (() => number) | undefined
  readonly limits: Limits
  readonly durability: 'normal' | 'full'
}

/** What a request changes of a mind, inside its transaction. */
export interface MindChanges {
  /** Lets it rest with all that it has; false where there is none. */
  release(mindId: string): boolean
  /** Deletes it with all that it has; false where there is none. */
  remove(mindId: string): boolean
  /** Gives it another body, and tells what it was before; throws `MIND_NOT_FOUND`. */
  relink(mindId: string, entityId: string): MindRow
}

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
  const tables = openTables(db, { now, steady }, limits)
  const { minds, memories, reflections, world, records } = tables
  const model = db.prepare<[string], Uint8Array>('SELECT bytes FROM embedding_model WHERE name = ?').pluck()
  const keepModel = db.prepare('INSERT OR REPLACE INTO embedding_model (name, bytes) VALUES (?, ?)')

  /** One transaction. Errors of SQLite become `STORE_ERROR`, or `DATA_DAMAGED` if the file is damaged. */
  const whole = async <T>(work: () => T): Promise<T> => {
    try {
      return db.transaction(work).immediate()
    } catch (error) {
      throw storeFailure(error, file)
    }
  }
  const readNow = <T>(work: () => T): T => {
    try {
      return db.transaction(work).deferred()
    } catch (error) {
      throw storeFailure(error, file)
    }
  }
  const read = async <T>(work: () => T): Promise<T> => readNow(work)
  const active = (mindId: string): MindRow => {
    const mind = minds.find(mindId)
    if (mind === undefined || mind.status !== 'active') throw mindNotFound(mindId)
    return mind
  }
  const inside: MindChanges = {
    release(mindId) {
      const mind = minds.find(mindId)
      if (mind !== undefined) minds.release(mind.seq)
      return mind !== undefined
    },
    remove(mindId) {
      const mind = minds.find(mindId)
      if (mind !== undefined) minds.remove(mind.seq)
      return mind !== undefined
    },
    relink(mindId, entityId) {
      const mind = active(mindId)
      minds.relink(mind.seq, entityId)
      return mind
    },
  }
  /** The answer of an earlier request of the same id, else what `work` makes, kept as such. */
  const once = <T>(request: Omit<AnsweredRequest, 'answer'>, work: (inside: MindChanges) => T): Promise<T> =>
    whole(() => {
      const earlier = records.answered(request.mind_id, request.request_id, request.tool)
      if (earlier !== undefined) return { ...(earlier as T), replayed: true }
      const answer = work(inside)
      records.answer({ ...request, answer })
      return answer
    })

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
        return earlier === undefined
          ? { snapshot: snapshotOf(tables, active(mind_id), interactionIds) }
          : { earlier }
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
    ): Promise<T> => once(request, () => answer(createMind(tables, mind, limits))),

    /** Everything that one decision changed. Throws `STORE_ERROR` where the mind was changed meanwhile. */
    commit: (change: DecisionChange): Promise<void> => whole(() => commitDecision(tables, change, limits)),
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
      read(() => materialOf(memories, seq, wanted)),

    /** Moves daily memories to those that last, with the ids they have; what says the same as one that lasts joins it. */
    consolidate: (mindSeq: number, embedderId: string, batch: readonly Lasting[]): Promise<Moved> =>
      whole(() => makeLasting(tables, { mindSeq, embedderId, batch })),
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
    /** Vectors of a mind in the order of their rows, from after a row on; one statement, which its reader runs to the end. */
    vectors: (mindSeq: number, embedderId: string, after: number) =>
      memories.vectors(mindSeq, embedderId, after),
    model: (name: string): Promise<Uint8Array | undefined> => read(() => model.get(name)),
    keepModel: (name: string, bytes: Uint8Array): Promise<void> =>
      whole(() => void keepModel.run(name, bytes)),
    figures: () =>
      readNow(() => ({
        minds_active: minds.active(),
        db_bytes:
          Number(db.pragma('page_count', { simple: true })) *
          Number(db.pragma('page_size', { simple: true })),
      })),
    close: (): void => void db.close(),
  }
}

/** `Mind <id> not found`, the words of the original. */
const mindNotFound = (mindId: string): CausewayError =>
  new CausewayError('MIND_NOT_FOUND', `Mind ${mindId} not found`, { data: { mind_id: mindId } })

function storeFailure(error: unknown, file: string): unknown {
  const isSqlite = error instanceof Error && /^SQLITE_/.test(String((error as { code?: unknown }).code))
  if (!isSqlite) return error
  const cause = dataFailure(error, file)
  if (isCausewayError(cause) && cause.code === 'DATA_DAMAGED') return cause
  return new CausewayError('STORE_ERROR', 'the memories could not be read or written', { cause })
}
