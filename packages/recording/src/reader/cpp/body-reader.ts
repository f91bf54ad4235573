import { runLineTable } from '../../formats/cpp-schema.ts'
import { type RunFacts, readRun } from '../../formats/lines/run-line.ts'
import type { Body, BodyId, RecordingSummary } from '../../types.ts'
import { readCountAt, readValueAt } from '../frame-records.ts'
import type { Connection } from './connection.ts'
import { type RawRow, readFlagAt, selectFrom } from './selection.ts'

/** Returns null unless the recording is an exported run. */
export function readRunLine({ db, era }: Connection): RunFacts | null {
  if (!era.schema.has(runLineTable, 'run')) return null
  const line = db.prepare<[], string>(`SELECT run FROM ${runLineTable}`).pluck().get()
  return line === undefined ? null : readRun(JSON.parse(line), null)
}

export function readBodies({ db, era }: Connection): readonly Body[] {
  const table = era.parts.metadata
  if (table === undefined) return []
  const select = selectFrom(era.schema, table)
  const hasAssets =
    table === 'AssetInertialStaticRecord' &&
    era.schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id')
  // Joined by body_id, because the row ids are unrelated.
  const assets = hasAssets
    ? select.join(select.root, 'body_id', 'AssetPhysicalStaticRecord', 'body_id')
    : select.root
  const id = select.column(select.root, 'body_id')
  const mass = select.column(select.root, 'mass')
  const restitution = select.column(select.root, 'restitution')
  const friction = select.column(select.root, 'friction')
  const asset = select.column(assets, 'asset_id')
  const environment = select.column(assets, 'is_environment')
  return db
    .prepare<[], RawRow>(select.sql('ORDER BY t.rowid'))
    .raw()
    .all()
    .map((row) => ({
      body_id: readCountAt(row, id),
      mass: readValueAt(row, mass),
      restitution: readValueAt(row, restitution),
      friction: readValueAt(row, friction),
      asset_id: readValueAt(row, asset),
      is_environment: readFlagAt(row, environment),
    }))
}

/** Number of parts into which a table is divided to find its bodies. */
const appearanceParts = 64

/** Returns each body's first frame with a state or energy row, sorted by body id. */
export function readAppearances(
  connection: Connection,
  frames: readonly number[],
): RecordingSummary['appearances'] {
  const { states, bodyEnergy } = connection.era.parts
  const firstFrames = new Map<BodyId, number>()
  for (const table of new Set([states, bodyEnergy]))
    if (table !== undefined && connection.era.schema.has(table, 'body_id'))
      for (const [body, frame] of readFirstFrames(connection, table, frames))
        firstFrames.set(body, Math.min(frame, firstFrames.get(body) ?? frame))
  return [...firstFrames]
    .map(([body_id, first_frame]) => ({ body_id, first_frame }))
    .sort((a, b) => a.body_id - b.body_id)
}

/** Groups only the parts that contain a new body, because grouping sorts all rows. */
function readFirstFrames(
  { db, bounds }: Connection,
  table: string,
  frames: readonly number[],
): ReadonlyMap<BodyId, number> {
  const [first, last] = [frames[0], frames.at(-1)]
  const firstFrames = new Map<BodyId, number>()
  if (first === undefined || last === undefined) return firstFrames
  const rows = `FROM "${table}" WHERE body_id > 0 AND frame_id BETWEEN @from AND @to AND rowid BETWEEN @low AND @high`
  type TablePart = { from: number; to: number; low: number; high: number }
  const bodies = db.prepare<[TablePart], BodyId>(`SELECT DISTINCT body_id ${rows}`).pluck()
  const firstFrameQuery = db
    .prepare<[TablePart], [BodyId, number]>(`SELECT body_id, min(frame_id) ${rows} GROUP BY body_id`)
    .raw()
  const step = bounds.isOrdered(table) ? Math.ceil(frames.length / appearanceParts) : frames.length
  for (let at = 0; at < frames.length; at += step) {
    const [from, to] = [frames[at] ?? first, (frames[at + step] ?? last + 1) - 1]
    const [low, high] = bounds.frames(table, from, to)
    const part = { from, to, low, high }
    if (bodies.all(part).every((body) => firstFrames.has(body))) continue
    for (const [body, frame] of firstFrameQuery.all(part))
      if (!firstFrames.has(body)) firstFrames.set(body, frame)
  }
  return firstFrames
}
