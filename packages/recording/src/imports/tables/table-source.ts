import type { Call } from '@causeway/worker'
import { type Proposal, proposeMapping, type Sample } from '../../domain/imports/propose-mapping.ts'
import { listUsedColumns, readTableMapping, type TableMapping } from '../../domain/imports/table-mapping.ts'
import type { ColumnDescription, Source, SourceDescription } from '../source.ts'
import { maxColumns } from '../source.ts'
import { type Batch, createLimitError, isIntegers, type Table, type Values } from './table.ts'
import { TableLines } from './table-lines.ts'

/** Number of rows from which a mapping is proposed. */
const sampleRows = 4096

const maxDescribed = 200

export class TableSource implements Source {
  readonly needsMapping = true
  readonly isTruncated = false
  readonly #table: Table
  readonly #path: string
  #notes: readonly string[] = []

  constructor(table: Table, path: string) {
    this.#table = table
    this.#path = path
    if (table.columns.length > maxColumns)
      throw createLimitError(`the file has ${table.columns.length} columns`, maxColumns, path)
  }

  get format(): string {
    return this.#table.format
  }

  get notes(): readonly string[] {
    return this.#notes
  }

  async describe(call: Call): Promise<SourceDescription> {
    const { format, columns, rowCount, notes = [] } = this.#table
    const sample = await this.#readSample(call)
    const proposal = this.#propose(sample)
    return {
      format,
      columns: columns.slice(0, maxDescribed).map((column) => describeColumn(column, sample)),
      ...(rowCount === undefined ? {} : { rows: rowCount }),
      proposed_mapping: proposal.mapping,
      notes: [
        ...notes,
        ...proposal.notes,
        ...(columns.length > maxDescribed
          ? [`${columns.length} columns; the first ${maxDescribed} are listed`]
          : []),
      ],
    }
  }

  async *frames(mappingValue: unknown, call: Call): AsyncGenerator<object> {
    const mapping = readTableMapping(mappingValue, this.#table.columns)
    const lines = new TableLines(mapping, {
      columns: this.#table.columns,
      path: this.#path,
      format: this.format,
    })
    yield* lines.start()
    for await (const batch of this.#table.read(listUsedOrAll(mapping, this.#table), call)) {
      call.signal.throwIfAborted()
      call.progress(Math.round(1000 * batch.done), 1000, 'importing')
      yield* lines.push(batch)
    }
    yield* lines.end()
    this.#notes = lines.notes
  }

  close(): Promise<void> {
    return this.#table.close()
  }

  #propose(sample: TableSample): Proposal {
    return proposeMapping(this.#table.proposedColumns ?? this.#table.columns, sample, this.#table.orderHint)
  }

  async #readSample(call: Call): Promise<TableSample> {
    const { columns, proposedColumns = columns } = this.#table
    const names = proposedColumns.map(({ name }) => name)
    const sample = new TableSample(new Map(columns.map(({ name, width }) => [name, width])))
    for await (const batch of this.#table.read(names, call, sampleRows)) {
      sample.add(batch)
      break
    }
    return sample
  }
}

const listUsedOrAll = (mapping: TableMapping, { columns, proposedColumns }: Table): readonly string[] => {
  const usedColumns = listUsedColumns(mapping)
  // With a constant step, only the row count is needed.
  return usedColumns.length > 0
    ? usedColumns
    : (proposedColumns ?? columns).slice(0, 1).map(({ name }) => name)
}

function describeColumn(
  { name, type, width }: Table['columns'][number],
  sample: TableSample,
): ColumnDescription {
  const first = sample.first(name)
  return { name, type, ...(width === 1 ? {} : { width }), ...(first === undefined ? {} : { first }) }
}

class TableSample implements Sample {
  readonly #widths: ReadonlyMap<string, number>
  #batch: Batch | undefined

  constructor(widths: ReadonlyMap<string, number>) {
    this.#widths = widths
  }

  get rows(): number {
    return this.#batch?.count ?? 0
  }

  add(batch: Batch): void {
    this.#batch ??= batch
  }

  numbers(reference: string): ArrayLike<number> | null {
    const [, name = reference, from, to] = /^(.*)\[(\d+):(\d+)\]$/.exec(reference) ?? []
    const [values, width] = [this.#find(name), this.#widths.get(name) ?? 1]
    if (values === undefined) return null
    if (from === undefined || width === 1) return values
    const [start, count] = [Number(from), Number(to) - Number(from)]
    return Float64Array.from(
      { length: this.rows * count },
      (_, i) => values[Math.floor(i / count) * width + start + (i % count)] ?? Number.NaN,
    )
  }

  first(name: string): unknown {
    const values: Values | undefined = this.#batch?.columns.get(name)
    const width = this.#widths.get(name) ?? 1
    if (values === undefined || values.length === 0) return undefined
    const sampleValues = Array.from({ length: Math.min(width, 4) }, (_, i) => values[i]).map((value) =>
      typeof value === 'bigint' ? Number(value) : typeof value === 'string' ? value.slice(0, 40) : value,
    )
    return width === 1 ? sampleValues[0] : sampleValues
  }

  #find(name: string): Float64Array | undefined {
    const values = this.#batch?.columns.get(name)
    if (values instanceof Float64Array) return values
    return isIntegers(values) ? Float64Array.from(values, Number) : undefined
  }
}
