/** Arrays whose first axes have the same length are the columns of one table. */
import { findTime, type NamedColumn } from '../../domain/imports/column-names.ts'
import { rejectMapping } from '../../domain/imports/table-mapping.ts'
import { type Batch, countBatchRows, type Values } from './table.ts'

export interface RowArray {
  readonly name: string
  readonly type: NamedColumn['type']
  readonly shape: readonly number[]
}

interface RowColumns {
  readonly columns: readonly NamedColumn[]
  readonly proposedColumns: readonly NamedColumn[]
  readonly rowCount: number
  readonly notes: readonly string[]
}

/** Reads the rows of an array. Successive calls must request ascending rows. */
export interface RowReader {
  read(start: number, count: number): Values | Promise<Values>
  close?(): void
}

const maxListedArrays = 20

/** Matches names of groups in files of robomimic and Isaac Lab. */
const runGroup = /^(?:demo|ep|episode|rollout|run|traj|trajectory|trial)[_-]?\d+$/i

function findRun(name: string): string | null {
  const path = name.split('/')
  const at = path.findIndex((part) => runGroup.test(part))
  return at < 0 || at === path.length - 1 ? null : path.slice(0, at + 1).join('/')
}

/**
 * Selects the arrays of the first run. The number of rows is the length of the times, or else the most frequent length
 * of the first axis.
 */
export function selectRowArrays(allArrays: readonly RowArray[]): RowColumns {
  const isColumn = ({ shape, type }: RowArray): boolean =>
    shape.length > 0 && (type === 'number' || shape.length === 1)
  const runs = [...new Set(allArrays.map(({ name }) => findRun(name)))].filter((run) => run !== null)
  const [first = null] = runs.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const arrays = runs.length > 1 ? allArrays.filter(({ name }) => findRun(name) === first) : allArrays
  const candidates = arrays.filter(isColumn)
  const rowCount = countRows(candidates)
  const toColumn = ({ name, type, shape }: RowArray): NamedColumn => ({
    name,
    type,
    width: getWidth(shape),
  })
  const isWide = ({ width }: NamedColumn): boolean => width > 0
  const proposedColumns = candidates.filter(({ shape }) => shape[0] === rowCount).map(toColumn)
  const otherArrays = arrays.filter(({ shape }) => shape[0] !== rowCount)
  const list = otherArrays.map(({ name, shape }) => `${name} (${shape.join(' x ') || 'one value'})`)
  return {
    columns: allArrays.filter(isColumn).map(toColumn).filter(isWide),
    proposedColumns: proposedColumns.filter(isWide),
    rowCount,
    notes: [
      ...(runs.length > 1
        ? [
            `the file has ${runs.length} runs, and the proposal is for ${first}: the others need mappings of their own`,
          ]
        : []),
      ...(list.length > 0
        ? [
            `the proposal leaves out arrays without ${rowCount} rows: ${list.slice(0, maxListedArrays).join(', ')}`,
          ]
        : []),
    ],
  }
}

function countRows(arrays: readonly RowArray[]): number {
  const times = arrays.filter(({ shape }) => shape.length === 1)
  const time = findTime(times.map(({ name, type }) => ({ name, type, width: 1 })))
  const timeArray = times.find(({ name }) => name === time?.name)
  if (timeArray !== undefined) return timeArray.shape[0] ?? 0
  const counts = new Map<number, number>()
  // Arrays with one row are initial states.
  const longArrays = arrays.filter(({ shape }) => (shape[0] ?? 0) > 1)
  for (const { shape } of longArrays.length > 0 ? longArrays : arrays)
    counts.set(shape[0] ?? 0, (counts.get(shape[0] ?? 0) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || b - a)[0]?.[0] ?? 0
}

export const getWidth = (shape: readonly number[]): number => shape.slice(1).reduce((a, b) => a * b, 1)

export async function* readRows<ArrayInfo extends Pick<RowArray, 'name' | 'shape'>>(
  arrays: readonly ArrayInfo[],
  open: (array: ArrayInfo) => RowReader | Promise<RowReader>,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): AsyncGenerator<Batch> {
  const rowCount = requireSameRows(arrays)
  const widths = arrays.map(({ shape }) => getWidth(shape))
  const rowsPerBatch = countBatchRows(widths, path)
  const readers: (readonly [name: string, reader: RowReader])[] = []
  try {
    for (const array of arrays) readers.push([array.name, await open(array)])
    for (let done = 0; done < rowCount; ) {
      signal.throwIfAborted()
      const count = Math.min(rowsPerBatch, rowCount - done)
      const columns = new Map<string, Values>()
      for (const [name, reader] of readers) columns.set(name, await reader.read(done, count))
      done += count
      yield { count, columns, done: done / rowCount }
    }
  } finally {
    for (const [, reader] of readers) reader.close?.()
  }
}

function requireSameRows(arrays: readonly Pick<RowArray, 'name' | 'shape'>[]): number {
  const [first, ...otherArrays] = arrays
  const mismatchedArray = otherArrays.find(({ shape }) => shape[0] !== first?.shape[0])
  if (first !== undefined && mismatchedArray !== undefined)
    rejectMapping(
      'bodies',
      `columns with one number of rows: ${first.name} has ${first.shape[0]}, ${mismatchedArray.name} ${mismatchedArray.shape[0]}`,
    )
  return first?.shape[0] ?? 0
}
