import { readdirSync } from 'node:fs'
import Database from 'better-sqlite3'

export function readRows(file: string): Readonly<Record<string, readonly string[]>> {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const tables = db
      .prepare<[], string>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`,
      )
      .pluck()
      .all()
    const text = (value: unknown): unknown =>
      Buffer.isBuffer(value) ? value.toString('base64') : typeof value === 'bigint' ? `${value}n` : value
    const rows = (table: string) =>
      db.prepare<[], unknown[]>(`SELECT * FROM "${table}"`).raw().safeIntegers().all()
    return Object.fromEntries(
      tables.sort().map((table) => [
        table,
        rows(table)
          .map((row) => JSON.stringify(row.map(text)))
          .sort(),
      ]),
    )
  } finally {
    db.close()
  }
}

/** Returns the paths of the databases in a folder and its subfolders. */
export const listDatabases = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.db'))
    .sort()
