import type { Connection } from './connection.ts'
import { countAt, flagAt, type RawRow, selectFrom, valueAt } from './selection.ts'
import type { Body, RecordingSummary } from './types.ts'

/** Bodies with a metadata row, in recorded order. */
export function readBodies({ db, era }: Connection): readonly Body[] {
  const table = era.parts.metadata
  if (table === undefined) return []
  const select = selectFrom(era.schema, table)
  const hasAssets =
    table === 'AssetInertialStaticRecord' &&
    era.schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id')
  // By body_id: the row ids of the two tables have nothing to do with each other.
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
      body_id: countAt(row, id),
      mass: valueAt(row, mass),
      restitution: valueAt(row, restitution),
      friction: valueAt(row, friction),
      asset_id: valueAt(row, asset),
      is_environment: flagAt(row, environment),
    }))
}

/** First recorded frame with a state or energy row, per body, in order of the body ids. */
export function readAppearances(
  { db, era }: Connection,
  frames: readonly number[],
): RecordingSummary['appearances'] {
  const { states, bodyEnergy } = era.parts
  const tables = [states, bodyEnergy].filter((name) => name !== undefined && era.schema.has(name, 'body_id'))
  const [first, last] = [frames[0], frames.at(-1)]
  if (tables.length === 0 || first === undefined || last === undefined) return []
  const firsts = tables
    .map(
      (name) =>
        `SELECT body_id, min(frame_id) AS frame_id FROM "${name}" WHERE body_id > 0 AND frame_id BETWEEN @first AND @last GROUP BY body_id`,
    )
    .join(' UNION ALL ')
  return db
    .prepare<[{ first: number; last: number }], { body_id: number; first_frame: number }>(
      `SELECT body_id, min(frame_id) AS first_frame FROM (${firsts}) GROUP BY body_id ORDER BY body_id`,
    )
    .all({ first, last })
}
