/** The statements of the data file, by what they are about; all of them to be called inside a transaction. */
import type { AgingOptions } from '@causeway/store'
import type { Limits } from '../limits.ts'
import { memoryTable } from './memory-table.ts'
import { type Database, mindTable } from './mind-table.ts'
import { recordTable } from './record-table.ts'
import { reflectionTable } from './reflection-table.ts'
import { worldTable } from './world-table.ts'

/** All tables of an open data file. */
export type Tables = ReturnType<typeof openTables>

/** Prepares the statements. */
export function openTables(
  db: Database,
  { now, steady }: Pick<AgingOptions, 'now' | 'steady'>,
  limits: Limits,
) {
  const memories = memoryTable(db, now)
  return {
    minds: mindTable(db, now),
    memories,
    reflections: reflectionTable(db, memories),
    world: worldTable(db, limits),
    records: recordTable(db, { now, steady }, limits),
  }
}
