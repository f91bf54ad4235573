import type { Database } from 'better-sqlite3'
import { createPairMatcher, listBodyIds } from '../../domain/body-id.ts'
import { RecordingError } from '../../errors.ts'
import { runTable } from '../../formats/run-schema.ts'
import { readTables } from '../../formats/schema-era.ts'
import type { Frame } from '../../types.ts'
import type { Reader } from '../reader.ts'
import { CachedWindows, type Windows } from '../windows.ts'
import { prepareFrames, unpackFrame } from './run-frame.ts'
import { createRunSeriesReader } from './run-series.ts'
import { createSummaryReader } from './run-summary.ts'
import { createRunWindowReader } from './run-window.ts'

/** Opens a run for reading, even while it is being recorded. */
export function openRunReader(db: Database): Reader {
  const frames = prepareFrames(db)
  const frameRange = db
    .prepare<[], [number | null, number | null]>('SELECT min(id), max(id) FROM frame')
    .raw()
  const frame = (id: number): Frame => {
    const [packedFrame] = frames(id, id)
    if (packedFrame !== undefined) return unpackFrame(packedFrame)
    const [first_frame = null, last_frame = null] = frameRange.get() ?? []
    throw new RecordingError('FRAME_NOT_FOUND', `the recording has no frame ${id}`, {
      data: { frame_id: id, first_frame, last_frame },
    })
  }
  const summary = createSummaryReader(db, frame)
  const ids = db.prepare<[number], number>('SELECT id FROM frame WHERE id > ? ORDER BY id').pluck()
  const extents = db
    .prepare<[], [id: number, x: number, y: number, z: number]>(
      `SELECT body_id, extent_x, extent_y, extent_z FROM body
       WHERE extent_x IS NOT NULL AND extent_y IS NOT NULL AND extent_z IS NOT NULL`,
    )
    .raw()
  const knownIds: number[] = []
  let cachedWindows: { readonly key: string; readonly windows: Windows } | undefined

  return {
    frame,
    ...createRunSeriesReader(db),
    pairHistory(pair, { start, end }, limit) {
      const isPair = createPairMatcher(pair)
      const pairFrames = []
      let total_frames = 0
      for (const packed of frames(start ?? 0, end ?? Number.MAX_SAFE_INTEGER)) {
        if (packed.contacts === null) continue
        const { frame_id, simulation_time, collisions, friction_constraints } = unpackFrame(packed)
        const collision = collisions.find(isPair) ?? null
        const friction = friction_constraints.filter(isPair)
        if (collision === null && friction.length === 0) continue
        total_frames++
        if (pairFrames.length < limit)
          pairFrames.push({ frame_id, simulation_time, collision, friction_constraints: friction })
      }
      return { frames: pairFrames, total_frames }
    },
    summary,
    tables: () => readTables(db),
    outlines: () => new Map(),
    extents: () => new Map(extents.all().map(([id, x, y, z]) => [id, [x, y, z]])),
    windows(summary) {
      const bodies = listBodyIds(summary)
      const key = bodies.join()
      // Complete windows do not change while the run grows.
      knownIds.push(...ids.all(knownIds.at(-1) ?? -1))
      if (cachedWindows?.key !== key) {
        const read = createRunWindowReader(frames, bodies)
        const source = { ids: knownIds, bodies, prepare: () => read, isSelective: false }
        cachedWindows = { key, windows: new CachedWindows(source) }
      }
      return cachedWindows.windows
    },
    writeColumns: async () => {}, // Reading from a columns file would not be faster.
    isIndexed: () => true,
    refresh: () => {},
    close: () => void db.close(),
  }
}

export const isRun = (db: Database): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(runTable) !== undefined
