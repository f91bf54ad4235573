import type { Connection } from './connection.ts'
import { frameTable } from './era.ts'

/** Rows of per-frame tables whose frame has no frame row: a killed recorder flushed them ahead of it. */
export function countIgnored({ db, era, bounds }: Connection, frames: readonly number[]): number {
  const { states, bodyEnergy, systemEnergy, solver, collisions, contactConstraints, friction } = era.parts
  const tables = [states, bodyEnergy, systemEnergy, solver, collisions, contactConstraints, friction]
  const [first, last] = [frames[0], frames.at(-1)]
  let count = 0
  for (const table of new Set(tables)) {
    if (table === undefined) continue
    const isGapless = first !== undefined && last !== undefined && last - first + 1 === frames.length
    if (isGapless && bounds.isOrdered(table)) {
      const [low, high] = bounds.frames(table, first, last)
      count += countRows(db, `SELECT count(*) FROM "${table}" WHERE rowid < ? OR rowid > ?`, low, high)
    } else {
      const orphan = `frame_id IS NULL OR frame_id NOT IN (SELECT id FROM ${frameTable})`
      count += countRows(db, `SELECT count(*) FROM "${table}" WHERE ${orphan}`)
    }
  }
  return count
}

const countRows = (db: Connection['db'], sql: string, ...bounds: number[]): number =>
  db
    .prepare<number[], number>(sql)
    .pluck()
    .get(...bounds) ?? 0
