import type { Database, Statement } from 'better-sqlite3'

/** A statement that may not run, or that SQLite does not understand. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

const leadingComments = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/
const reads = /^(?:select|with|values|explain)\b/i
const readingPragma =
  /^pragma\s+(?:(?:main|temp)\s*\.\s*)?(?:table_info|table_xinfo|table_list|index_list|index_info)\s*(?:\(\s*(?:"[^"]*"|'[^']*'|\w+)\s*\)\s*)?;?\s*$/i

/**
 * Prepares one statement that only reads, else throws a `Refusal` that says why.
 *
 * Both flags of SQLite are asked: ATTACH and VACUUM INTO call themselves read-only and write files, but return no rows
 * (https://sqlite.org/c3ref/stmt_readonly.html). A pragma may do both and still set something.
 */
export function prepareReading(db: Database, sql: string): Statement<unknown[], unknown[]> {
  const text = sql.replace(leadingComments, '')
  if (!reads.test(text) && !readingPragma.test(text))
    throw new Refusal(
      'only SELECT, WITH, VALUES, EXPLAIN and the pragmas table_info, table_list and index_list may run',
    )
  const statement = prepared(db, sql)
  if (!statement.reader || !statement.readonly) throw new Refusal('the statement does not only read')
  return statement.raw()
}

function prepared(db: Database, sql: string): Statement<unknown[], unknown[]> {
  try {
    return db.prepare<unknown[], unknown[]>(sql)
  } catch (error) {
    throw new Refusal((error as Error).message)
  }
}
