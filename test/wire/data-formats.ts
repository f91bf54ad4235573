/** What a server stores and measures: schemas, keys of JSON files and columns, names of metrics. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Returns the schema of every SQLite file below a data folder. The server must be stopped. */
export function describeSchemas(dir: string): string {
  return databases(dir)
    .map((path) => {
      const database = new Database(join(dir, path), { readonly: true })
      const rows = database
        .prepare('select type, name, sql from sqlite_master order by type, name')
        .all() as {
        readonly type: string
        readonly name: string
        readonly sql: string | null
      }[]
      const version = database.pragma('user_version', { simple: true })
      database.close()
      const statements = rows.map(({ type, name, sql }) => sql ?? `-- ${type} ${name}`)
      return [`== ${path}, user_version ${version}`, ...statements].join('\n')
    })
    .join('\n\n')
    .concat('\n')
}

/** Returns the keys of the JSON in the columns of the server's own database, as `table.column: keys`. */
export function describeJsonColumns(file: string): string[] {
  const database = new Database(file, { readonly: true })
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' order by name")
    .pluck()
    .all()
  const lines = tables.flatMap((table) => {
    const found = new Map<string, Set<string>>()
    for (const row of database.prepare(`select * from "${table}"`).iterate() as Iterable<object>)
      for (const [column, value] of Object.entries(row))
        for (const path of jsonPaths(typeof value === 'string' ? value : '')) {
          const paths = found.get(column) ?? new Set()
          found.set(column, paths.add(path))
        }
    return [...found].map(([column, paths]) => `${table}.${column}: ${[...paths].sort().join(' ')}`)
  })
  database.close()
  return lines.sort()
}

/** Returns the paths of all members of a JSON object, `a.b` and `list[].c`; nothing for other text. */
export function jsonPaths(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? [...new Set(pathsIn(value, ''))].sort() : []
  } catch {
    return []
  }
}

/**
 * Returns `name{labels} type` of each metric of a Prometheus text, without values. The metrics of Node and of the process have no
 * labels here: a label of theirs is absent while there is nothing to measure.
 */
export function describeMetrics(text: string): string {
  const labels = new Map<string, string[]>()
  for (const [, name = '', list = ''] of text.matchAll(/^([a-z]\w*?)(?:_bucket|_sum|_count)?\{(.*)\} /gm))
    labels.set(
      name,
      [...list.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = '']) => label),
    )
  const lines = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
    const own = /^causeway_(nodejs|process)_/.test(name) ? [] : (labels.get(name) ?? [])
    return `${name}{${own.filter((label) => label !== 'le')}} ${type}`
  })
  return `${lines.sort().join('\n')}\n`
}

function* pathsIn(value: object, prefix: string): Generator<string> {
  for (const [key, member] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${prefix}[]` : prefix === '' ? key : `${prefix}.${key}`
    if (typeof member === 'object' && member !== null) yield* pathsIn(member, path)
    else yield path
  }
}

const databases = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.db') && statSync(join(dir, path)).isFile())
    .filter((path) => !path.startsWith('backups'))
    .sort()

export const readKeys = (file: string): string[] => jsonPaths(readFileSync(file, 'utf8'))
