/** Reads CSV and TSV files (RFC 4180): a line of names, then one line per row. */
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { Call } from '@causeway/worker'
import { CsvError, type Parser, parse } from 'csv-parse'
import type { NamedColumn } from '../../domain/imports/column-names.ts'
import { maxColumns, type OpenSource } from '../source.ts'
import {
  type Batch,
  batchRows,
  createDamageError,
  createLimitError,
  type Table,
  toIntegers,
  type Values,
} from './table.ts'
import { TableSource } from './table-source.ts'

/** In characters. */
const maxRowLength = 1024 ** 2

/** Number of rows that decide whether a column is numeric. */
const typeSampleRows = 100

export const openCsv: OpenSource = async (path) => new TableSource(await openTable(path), path)

async function openTable(path: string): Promise<Table> {
  const delimiter = await findDelimiter(path)
  const { names, columns } = await readHeader(path, delimiter)
  return {
    format: delimiter === '\t' ? 'TSV' : 'CSV',
    columns,
    rowCount: undefined,
    read: (columnNames, call) => readBatches({ path, delimiter, names, columns }, columnNames, call),
    close: async () => {},
  }
}

async function findDelimiter(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0)
    const line = buffer.toString('utf8', 0, bytesRead).split(/\r?\n/, 1)[0] ?? ''
    const countFields = (delimiter: string) => line.split(delimiter).length
    return [',', ';', '\t'].reduce((best, candidate) =>
      countFields(candidate) > countFields(best) ? candidate : best,
    )
  } finally {
    await file.close()
  }
}

async function readHeader(path: string, delimiter: string) {
  const rows: (readonly string[])[] = []
  for await (const { record } of readRecords(path, delimiter)) {
    rows.push(record)
    if (rows.length > typeSampleRows) break
  }
  const [header = [], ...values] = rows
  const names = header.map((name, i) => name.trim() || `column_${i + 1}`)
  if (names.length > maxColumns)
    throw createLimitError(`the file has ${names.length} columns`, maxColumns, path)
  if (new Set(names).size !== names.length || names.length === 0)
    throw createDamageError('the first line does not name each column once', path)
  if (values.length === 0) throw createDamageError('the file has no rows', path)
  const columns = names.map((name, i): NamedColumn => {
    const isNumber = values.every((row) => !Number.isNaN(toNumber(row[i] ?? '')) || isAbsent(row[i] ?? ''))
    return { name, width: 1, type: isNumber ? 'number' : 'text' }
  })
  return { names, columns }
}

const isAbsent = (text: string): boolean => /^\s*(|nan|null|none|na|n\/a)\s*$/i.test(text)

/** Returns NaN for text that is not numeric. */
function toNumber(text: string): number {
  const trimmed = text.trim()
  if (trimmed === '') return Number.NaN
  const infinityMatch = /^([+-]?)(?:inf|infinity)$/i.exec(trimmed)
  return infinityMatch ? (infinityMatch[1] === '-' ? -1 : 1) * Number.POSITIVE_INFINITY : Number(trimmed)
}

interface CsvFile {
  readonly path: string
  readonly delimiter: string
  readonly names: readonly string[]
  readonly columns: readonly NamedColumn[]
}

async function* readBatches(
  csv: CsvFile,
  columnNames: readonly string[],
  { signal }: Call,
): AsyncGenerator<Batch> {
  const { size } = await stat(csv.path)
  const columnIndexes = columnNames.map((name) => csv.names.indexOf(name))
  let rows: CsvRecord[] = []
  let isHeader = true
  const takeBatch = (bytes: number): Batch => {
    const lines = rows.map(({ line }) => line)
    const columns = columnNames.map((name, w) => {
      const texts = rows.map(({ record }) => record[columnIndexes[w] ?? 0] ?? '')
      const isText = csv.columns[columnIndexes[w] ?? 0]?.type === 'text'
      return [name, isText ? texts : toNumbers(texts, { name, lines, path: csv.path })] as const
    })
    const batch = {
      count: rows.length,
      columns: new Map<string, Values>(columns),
      done: Math.min(1, bytes / size),
    }
    rows = []
    return batch
  }
  let last = 0
  for await (const row of readRecords(csv.path, csv.delimiter)) {
    last = row.bytes
    if (isHeader) {
      isHeader = false
      continue
    }
    rows.push(row)
    if (rows.length < batchRows) continue
    signal.throwIfAborted()
    yield takeBatch(last)
  }
  if (rows.length > 0) yield takeBatch(last)
}

/** `lines` are the line numbers at which the rows start. */
function toNumbers(
  texts: readonly string[],
  { name, lines, path }: { readonly name: string; readonly lines: readonly number[]; readonly path: string },
): Values {
  const numbers = Float64Array.from(texts, toNumber)
  for (const [i, text] of texts.entries())
    if (Number.isNaN(numbers[i]) && !isAbsent(text))
      throw createDamageError(
        `line ${lines[i]}: ${name} is ${JSON.stringify(text.slice(0, 40))}, not a number`,
        path,
      )
  // Times in nanoseconds since 1970 are exact only as integers.
  const isLarge = numbers.some((number) => Math.abs(number) > Number.MAX_SAFE_INTEGER)
  const isExact = isLarge && texts.every((text) => /^\s*[+-]?\d+\s*$/.test(text))
  return (isExact ? toIntegers(texts.map(BigInt)) : undefined) ?? numbers
}

interface CsvRecord {
  readonly record: readonly string[]
  readonly line: number
  readonly bytes: number
}

async function* readRecords(path: string, delimiter: string): AsyncGenerator<CsvRecord> {
  const file = createReadStream(path)
  const lines = new LineCounter()
  const parser: Parser = file.pipe(
    parse({
      delimiter,
      bom: true,
      max_record_size: maxRowLength,
      skip_empty_lines: true,
      relax_quotes: false,
      // The library's types allow only lists of strings.
      on_record: (record: string[], context) =>
        ({ record, line: lines.add(record, context.lines) }) as unknown as string[],
    }),
  )
  file.once('error', (error) => parser.destroy(error))
  try {
    for await (const row of parser) yield { ...(row as Omit<CsvRecord, 'bytes'>), bytes: parser.info.bytes }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const message = error.message.replace(/ (?:at|on) line \d+/, '')
    throw createDamageError(`line ${lines.find(error)}: ${message}`, path, error)
  } finally {
    file.destroy()
  }
}

/** Finds the first line of a record. The parser returns the last one, and counts a CRLF in quotes as two lines. */
class LineCounter {
  #extraLines = 0
  #lastLine = 0

  add(record: readonly string[], parserLine: number): number {
    const text = record.join()
    this.#extraLines += countMatches(text, /\r\n/g)
    this.#lastLine = parserLine - this.#extraLines
    return this.#lastLine - countMatches(text, /\r\n|\r|\n/g)
  }

  find({ code, lines, record }: CsvError): number {
    // The parser reports an unclosed quote only at the end of the file.
    if (code === 'CSV_QUOTE_NOT_CLOSED') return this.#lastLine + 1
    const parserLine = Number(lines ?? this.#lastLine + 1)
    return Array.isArray(record) ? this.add(record, parserLine) : parserLine - this.#extraLines
  }
}

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
