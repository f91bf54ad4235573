import type { Database, Statement } from 'better-sqlite3'
import type { SqlQuery } from './query-types.ts'

/** A statement that is not allowed, or that SQLite cannot compile or bind. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
}

const blankPattern = /^(?:\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/
const readPattern = /^(?:select|with|values)\b/i
const readPragmaPattern =
  /^pragma\s+(?:(?:main|temp)\s*\.\s*)?(?:table_info|table_xinfo|table_list|index_list|index_info)\s*(?:\(\s*(?:"[^"]*"|'[^']*'|\w+)\s*\)\s*)?;?\s*$/i

const allowedTables = ['json_each', 'json_tree']

/** Allowed aggregates, which SQLite compiles without the innocuous flag. */
const allowedFunctions = ['median', 'percentile', 'percentile_cont', 'percentile_disc']

/**
 * Prepares one statement that only reads, or throws a `StatementError`. ATTACH and VACUUM INTO count as read-only but
 * return no rows (https://sqlite.org/c3ref/stmt_readonly.html), and a SELECT can have side effects through functions
 * and virtual tables.
 */
export function prepareReading(
  db: Database,
  sql: string,
  params: SqlQuery['params'] = [],
): Statement<unknown[], unknown[]> {
  const text = sql.replace(blankPattern, '')
  const explainedText = skipWord(text, 'explain')
  const body = explainedText === undefined ? text : skipQueryPlan(explainedText)
  const isPragma = explainedText === undefined && readPragmaPattern.test(text)
  if (!isPragma && !readPattern.test(body))
    throw new StatementError(
      'only SELECT, WITH, VALUES, EXPLAIN of these, and the pragmas table_info, table_list and index_list may run',
    )
  const statement = compile(() => db.prepare<unknown[], unknown[]>(sql))
  if (!statement.reader || !statement.readonly) throw new StatementError('the statement does not only read')
  if (!isPragma) checkProgram(db, body, params)
  return statement.raw()
}

function skipWord(text: string, word: string): string | undefined {
  const match = new RegExp(`^${word}\\b`, 'i').exec(text)
  return match?.[0] && text.slice(match[0].length).replace(blankPattern, '')
}

function skipQueryPlan(text: string): string {
  const plan = skipWord(text, 'query')
  return (plan === undefined ? undefined : skipWord(plan, 'plan')) ?? text
}

function compile<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new StatementError((error as Error).message)
  }
}

/** An instruction of a compiled statement (https://sqlite.org/opcode.html). */
interface Instruction {
  readonly opcode: string
  readonly p4: string | null
}

/** Checks the compiled program, because aliases hide tables and views hide function calls. */
function checkProgram(db: Database, body: string, params: SqlQuery['params']): void {
  const { functions, tables } = compile(() => analyseProgram(db, body, params))
  const innocuousNames = new Set([...allowedFunctions, ...listInnocuousFunctions(db)])
  for (const name of functions)
    if (!innocuousNames.has(name)) throw new StatementError(`not allowed: the function ${name}`)
  if (tables.size === 0) return
  const allowedNames = new Set(
    listReadableTables(db).flatMap((sql) => [...analyseProgram(db, sql, []).tables]),
  )
  if ([...tables].some((table) => !allowedNames.has(table)))
    throw new StatementError(
      `not allowed: pragma functions and virtual tables other than ${allowedTables.join(' and ')}; "PRAGMA table_info(v_state)" lists columns`,
    )
}

function analyseProgram(db: Database, body: string, params: SqlQuery['params']) {
  const explain = db.prepare<unknown[], Instruction>(`EXPLAIN ${body}`)
  const program = Array.isArray(params) ? explain.all(...params) : explain.all(params)
  const functions = new Set<string>()
  const tables = new Set<string>()
  for (const { opcode, p4 } of program) {
    // Name and number of arguments, such as `abs(1)`.
    if (/^(?:Function|PureFunc|Agg)/.test(opcode) && p4 !== null)
      functions.add(p4.slice(0, p4.lastIndexOf('(')))
    if (opcode.startsWith('V') && p4?.startsWith('vtab:') === true) tables.add(p4)
  }
  return { functions, tables }
}

/** Flags SQLITE_INNOCUOUS and SQLITE_DIRECTONLY (https://sqlite.org/c3ref/c_deterministic.html). */
const [isInnocuous, isDirectOnly] = [0x20_0000, 0x8_0000]

function listInnocuousFunctions(db: Database): readonly string[] {
  return db
    .prepare<[number, number], string>(
      'SELECT name FROM pragma_function_list GROUP BY name HAVING min(flags & ?) > 0 AND max(flags & ?) = 0',
    )
    .pluck()
    .all(isInnocuous, isDirectOnly)
}

/** Returns statements that read each allowed table. `temp.` excludes the recording's tables of the same name. */
function listReadableTables(db: Database): readonly string[] {
  const views = db
    .prepare<[], string>(`SELECT name FROM temp.sqlite_schema WHERE type = 'view'`)
    .pluck()
    .all()
  return [
    ...allowedTables.map((name) => `SELECT * FROM temp.${name}('[]')`),
    ...views.map((name) => `SELECT * FROM temp.${name}`),
  ]
}
