import { isDeepStrictEqual } from 'node:util'
import { JsonEditError } from '@causeway/gateway/config'
import { isObject } from '@causeway/protocol'
import { parse, stringify, TomlError } from 'smol-toml'

type Table = Record<string, unknown>

/** Throws `JsonEditError` with line and column. */
export function readTomlValue(text: string, path: readonly string[]): unknown {
  let value: unknown = parseToml(text)
  for (const key of path) value = isObject(value) ? value[key] : undefined
  return value === undefined ? undefined : structuredClone(value)
}

/** Leaves other text unchanged. Throws `JsonEditError`. */
export function setTomlTable(text: string, path: readonly string[], table: object): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const block = formatTomlTable(path, table).trimEnd().replaceAll('\n', lineEnd)
  const range = findTable(text, path)
  const updated =
    range === undefined
      ? `${text}${text === '' || text.endsWith('\n') ? '' : lineEnd}${text.trim() === '' ? '' : lineEnd}${block}${lineEnd}`
      : `${text.slice(0, range.start)}${block}${text.slice(range.end)}`
  return requireResult(updated, setValue(parseToml(text), path, table), path)
}

/** Also removes the empty line before the table. Throws `JsonEditError`. */
export function removeTomlTable(text: string, path: readonly string[]): string {
  const range = findTable(text, path)
  if (range === undefined) return requireResult(text, setValue(parseToml(text), path, undefined), path)
  const textBefore = text.slice(0, range.start).replace(/(\r?\n)\r?\n$/, '$1')
  const updated = textBefore + text.slice(range.end).replace(/^\r?\n/, '')
  return requireResult(updated, setValue(parseToml(text), path, undefined), path)
}

export const formatTomlTable = (path: readonly string[], table: object): string =>
  stringify(path.reduceRight<object>((nestedTable, key) => ({ [key]: nestedTable }), table))

function parseToml(text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError) && !(error instanceof RangeError)) throw error
    // Omits the parser's message, which quotes lines of the file.
    const location = error instanceof TomlError ? ` in line ${error.line}, column ${error.column}` : ''
    throw new JsonEditError(`not valid TOML${location}`)
  }
}

/**
 * Finds the lines of `[a.b]` and its nested tables, but not inline tables or dotted keys. Throws `JsonEditError` if
 * they contain comments or are not adjacent.
 */
function findTable(text: string, path: readonly string[]): { start: number; end: number } | undefined {
  let offset = 0
  let isInside = false
  let tableRange: { start: number; end: number } | undefined
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const header = parseHeader(line)
    if (header !== undefined) isInside = path.every((key, index) => header[index] === key)
    if (
      isInside &&
      header !== undefined &&
      tableRange !== undefined &&
      text.slice(tableRange.end, offset).trim() !== ''
    )
      throw new JsonEditError(`the tables of ${path.join('.')} are not adjacent`)
    if (isInside && /^\s*[^#\s]/.test(line))
      tableRange = { start: tableRange?.start ?? offset, end: offset + line.trimEnd().length }
    offset += line.length
  }
  if (tableRange !== undefined && /^\s*#/m.test(text.slice(tableRange.start, tableRange.end)))
    throw new JsonEditError(`comments in ${path.join('.')} would be lost`)
  return tableRange
}

function parseHeader(line: string): readonly string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined
  try {
    const keys: string[] = []
    let table: unknown = parse(line)
    while (isObject(table) && Object.keys(table).length === 1) {
      const [key = ''] = Object.keys(table)
      keys.push(key)
      table = table[key]
    }
    return keys.length === 0 ? undefined : keys
  } catch {
    // The line is within an array or a multi-line string.
    return undefined
  }
}

function setValue(table: Table, [key = '', ...rest]: readonly string[], value: unknown): Table {
  if (rest.length > 0) {
    const nestedTable = table[key]
    if (nestedTable !== undefined && !isObject(nestedTable)) throw new JsonEditError(`${key} is not a table`)
    return { ...table, [key]: setValue(nestedTable ?? {}, rest, value) }
  }
  const { [key]: _removed, ...remaining } = table
  return value === undefined ? remaining : { ...remaining, [key]: value }
}

/** Checks the new text, because `findTable` does not detect inline tables and multi-line strings. */
function requireResult(text: string, expectedTable: Table, path: readonly string[]): string {
  const omitEmptyTables = (table: Table) => JSON.parse(JSON.stringify(removeEmptyTable(table, path)))
  try {
    if (isDeepStrictEqual(omitEmptyTables(parseToml(text)), omitEmptyTables(expectedTable))) return text
  } catch (error) {
    if (!(error instanceof JsonEditError)) throw error
  }
  throw new JsonEditError(`${path.join('.')} cannot be changed without changing other lines`)
}

function removeEmptyTable(table: Table, [key = '']: readonly string[]): Table {
  const { [key]: parent, ...remaining } = table
  return isObject(parent) && Object.keys(parent).length === 0 ? remaining : table
}
