import { CausewayError } from '@causeway/protocol'
import type { Database } from 'better-sqlite3'
import { readTables } from '../era.ts'
import type { Reader } from '../reader-contract.ts'
import type { BodyId, Collision, Frame, FrictionConstraint, RecordingSummary } from '../types.ts'
import { type Windows, windowsOver } from '../windows.ts'
import { unpackFrame } from './run-frame.ts'
import { framesReader } from './run-rows.ts'
import { runTable } from './run-schema.ts'
import { runSeries } from './run-series.ts'
import { runSummary } from './run-summary.ts'
import { runWindowReader } from './run-window.ts'

/**
 * Answers questions about a run of our own, also while it is being recorded: every query sees whole flushes, and the
 * frames of a summary are those that were stored when it was made. The connection is never that of the writer.
 */
export function openRunReader(db: Database): Reader {
  const frames = framesReader(db)
  const ends = db.prepare<[], [number | null, number | null]>('SELECT min(id), max(id) FROM frame').raw()
  const frame = (id: number): Frame => {
    const [found] = frames(id, id)
    if (found !== undefined) return unpackFrame(found)
    const [first_frame = null, last_frame = null] = ends.get() ?? []
    throw new CausewayError('FRAME_NOT_FOUND', `the recording has no frame ${id}`, {
      data: { frame_id: id, first_frame, last_frame },
    })
  }
  const summary = runSummary(db, frame)
  const ids = db.prepare<[number], number>('SELECT id FROM frame WHERE id > ? ORDER BY id').pluck()
  const extents = db
    .prepare<[], [id: number, x: number, y: number, z: number]>(
      `SELECT body_id, extent_x, extent_y, extent_z FROM body
       WHERE extent_x IS NOT NULL AND extent_y IS NOT NULL AND extent_z IS NOT NULL`,
    )
    .raw()
  const known: number[] = []
  let windows: { readonly key: string; readonly over: Windows } | undefined

  return {
    frame,
    ...runSeries(db),
    pairHistory([a, b], { start, end }, limit) {
      const isPair = (row: Pick<Collision | FrictionConstraint, 'body_a_id' | 'body_b_id'>): boolean =>
        (row.body_a_id === a && row.body_b_id === b) || (row.body_a_id === b && row.body_b_id === a)
      const found = []
      let total_frames = 0
      for (const packed of frames(start ?? 0, end ?? Number.MAX_SAFE_INTEGER)) {
        if (packed.contacts === null) continue
        const { frame_id, simulation_time, collisions, friction_constraints } = unpackFrame(packed)
        const collision = collisions.find(isPair) ?? null
        const friction = friction_constraints.filter(isPair)
        if (collision === null && friction.length === 0) continue
        total_frames++
        if (found.length < limit)
          found.push({ frame_id, simulation_time, collision, friction_constraints: friction })
      }
      return { frames: found, total_frames }
    },
    summary,
    tables: () => readTables(db),
    extents: () => new Map(extents.all().map(([id, x, y, z]) => [id, [x, y, z]])),
    windows(of) {
      const bodies = bodyIds(of)
      const key = bodies.join()
      // Windows that are full stay as they are while the run grows.
      known.push(...ids.all(known.at(-1) ?? -1))
      if (windows?.key !== key)
        windows = { key, over: windowsOver(known, runWindowReader(frames, bodies), bodies.length) }
      return windows.over
    },
    writeColumns: async () => {}, // windows of a run are read as fast
    isIndexed: () => true,
    refresh: () => {},
    close: () => void db.close(),
  }
}

/** True for the file of a run of ours. */
export const isRun = (db: Database): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(runTable) !== undefined

const bodyIds = ({ bodies, appearances }: RecordingSummary): readonly BodyId[] =>
  [...new Set([...bodies, ...appearances].map(({ body_id }) => body_id))].sort((a, b) => a - b)
