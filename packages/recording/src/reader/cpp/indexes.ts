import type { Database } from 'better-sqlite3'
import type { EraMap } from '../../formats/schema-era.ts'

interface Index {
  readonly table: string
  readonly columns: readonly string[]
}

function listIndexes({ parts }: EraMap): readonly Index[] {
  const {
    states,
    bodyEnergy,
    systemEnergy,
    solver,
    collisions,
    contactPoints,
    contactConstraints,
    friction,
  } = parts
  const frames = [states, systemEnergy, solver, collisions, bodyEnergy, contactConstraints, friction]
  const pairs = [collisions, friction]
  const indexes: Index[] = [...new Set(frames)].flatMap((table) =>
    table === undefined ? [] : [{ table, columns: ['frame_id'] }],
  )
  if (contactPoints) indexes.push({ table: contactPoints, columns: ['CollisionResultRecord_id'] })
  if (bodyEnergy) indexes.push({ table: bodyEnergy, columns: ['body_id', 'frame_id'] })
  for (const table of new Set(pairs)) {
    if (table !== undefined) indexes.push({ table, columns: ['body_a_id', 'body_b_id', 'frame_id'] })
  }
  return indexes
}

const getName = ({ table, columns }: Index): string => `causeway_${table}_${columns.join('_')}`

/** Builds each index in its own transaction, so that readers of a WAL copy can use it early. */
export function buildIndexes(db: Database, era: EraMap): void {
  for (const index of listIndexes(era)) {
    const columns = index.columns.map((column) => `"${column}"`).join(', ')
    db.exec(`CREATE INDEX IF NOT EXISTS "${getName(index)}" ON "${index.table}" (${columns})`)
  }
}

export function isIndexed(db: Database, era: EraMap): boolean {
  const exists = db.prepare<[string]>(`SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?`).pluck()
  return listIndexes(era).every((index) => exists.get(getName(index)) === 1)
}
