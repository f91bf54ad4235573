import { isObject } from '@causeway/protocol'
import { RecordingError } from '../../errors.ts'
import type { NamedColumn, Quantity } from './column-names.ts'
import type { QuaternionOrder, SpinFrame } from './quaternion-order.ts'

/** The components of a column from `from` to `from + count`, exclusive. */
export interface ColumnSlice {
  readonly column: string
  readonly from: number
  readonly count: number
}

type QuantityColumns = Partial<Record<Quantity, readonly ColumnSlice[]>>

export interface MappedBody {
  readonly name: string
  readonly columns: QuantityColumns
  /** Members of the body in the run line, such as `mass`. */
  readonly constants: Readonly<Record<string, unknown>>
  readonly spinFrame: SpinFrame
}

export interface TableMapping {
  /** A column of times, with its units per second, or a constant step in s. */
  readonly time: { readonly column: string; readonly perSecond: number } | { readonly step: number }
  readonly frame: string | null
  /** Column with the name of a row's body; null if each row has all bodies. */
  readonly bodyColumn: string | null
  /** Conditions: rows with a different value are skipped. */
  readonly where: readonly { readonly column: string; readonly value: number | string }[]
  readonly bodies: readonly MappedBody[]
  readonly order: QuaternionOrder | null
  /** Members of the run line, such as `gravity`. */
  readonly run: Readonly<Record<string, unknown>>
}

/** Name that represents every unnamed body. */
export const anyBody = '*'

const timeUnits: Readonly<Record<string, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 }

const mappingMembers = ['time', 'time_unit', 'frame', 'body', 'bodies', 'where', 'run']
const quantityWidths: Readonly<Record<Quantity, number>> = {
  position: 3,
  quaternion: 4,
  velocity: 3,
  angular_velocity: 3,
  acceleration: 3,
}
const maxBodies = 10_000

export function rejectMapping(path: string, expected: string): never {
  throw new RecordingError('INVALID_MAPPING', `${path} of the mapping is not valid: expected ${expected}`, {
    data: { path, expected },
  })
}

type Members = Readonly<Record<string, unknown>>

const requireObject = (value: unknown, path: string): Members =>
  isObject(value) ? value : rejectMapping(path, 'an object')

export function readTableMapping(value: unknown, columns: readonly NamedColumn[]): TableMapping {
  const mapping = requireObject(value, 'the object')
  requireKnownKeys(mapping, mappingMembers, '')
  const columnByName = new Map(columns.map((column) => [column.name, column]))
  const readScalarColumn = (reference: unknown, path: string): string =>
    typeof reference === 'string' && columnByName.get(reference)?.width === 1
      ? reference
      : rejectMapping(
          path,
          `the name of a column with one value per row; data.columns of the proposal lists them`,
        )
  const bodies = Object.entries(requireObject(mapping.bodies, 'bodies')).map(([name, body]) =>
    readBody(name, requireObject(body, `bodies.${name}`), columnByName),
  )
  if (bodies.length === 0 || bodies.length > maxBodies) rejectMapping('bodies', `1 to ${maxBodies} bodies`)
  const orders = new Set(bodies.flatMap(({ order }) => order ?? []))
  if (orders.size > 1) rejectMapping('bodies', 'the same order of all quaternions')
  const bodyColumn = mapping.body == null ? null : readScalarColumn(mapping.body, 'body')
  if (bodyColumn === null && bodies.some(({ name }) => name === anyBody))
    rejectMapping('body', 'the column that names the body of a row, because bodies has "*"')
  return {
    time: readTime(mapping, readScalarColumn),
    frame: mapping.frame == null ? null : readScalarColumn(mapping.frame, 'frame'),
    bodyColumn,
    where:
      mapping.where === undefined ? [] : readWhere(requireObject(mapping.where, 'where'), readScalarColumn),
    bodies,
    order: [...orders][0] ?? null,
    run: mapping.run === undefined ? {} : readRunMembers(requireObject(mapping.run, 'run')),
  }
}

function requireKnownKeys(object: Members, knownKeys: readonly string[], path: string): void {
  for (const key of Object.keys(object))
    if (!knownKeys.includes(key)) rejectMapping(`${path}${key}`, `one of ${knownKeys.join(', ')}`)
}

function readTime(
  mapping: Members,
  readScalarColumn: (reference: unknown, path: string) => string,
): TableMapping['time'] {
  const { time, time_unit: unit = 's' } = mapping
  if (isObject(time)) {
    requireKnownKeys(time, ['step'], 'time.')
    if (typeof time.step === 'number' && time.step > 0 && Number.isFinite(time.step))
      return { step: time.step }
    return rejectMapping('time.step', 'the time between rows in seconds, above 0')
  }
  const perSecond = typeof unit === 'string' ? timeUnits[unit] : undefined
  if (perSecond === undefined) return rejectMapping('time_unit', Object.keys(timeUnits).join(', '))
  return { column: readScalarColumn(time, 'time'), perSecond }
}

function readWhere(
  where: Members,
  readScalarColumn: (given: unknown, path: string) => string,
): TableMapping['where'] {
  return Object.entries(where).map(([name, value]) => {
    const column = readScalarColumn(name, `where.${name}`)
    return typeof value === 'number' || typeof value === 'string'
      ? { column, value }
      : rejectMapping(`where.${name}`, 'a number or a text')
  })
}

function readRunMembers(run: Members): Members {
  const convention = run.convention === undefined ? {} : requireObject(run.convention, 'run.convention')
  if (convention.quaternion !== undefined)
    rejectMapping('run.convention.quaternion', 'order in the quaternion of the bodies instead')
  if (run.bodies !== undefined) rejectMapping('run.bodies', 'bodies in the member bodies')
  return run
}

function readBody(name: string, body: Members, columnByName: ReadonlyMap<string, NamedColumn>) {
  const path = `bodies.${name}`
  const isFixed = body.is_environment === true
  const columns: Partial<Record<Quantity, readonly ColumnSlice[]>> = {}
  const constants: Record<string, unknown> = {}
  let order: QuaternionOrder | null = null
  let spinFrame: SpinFrame = 'body'
  for (const [member, value] of Object.entries(body)) {
    if (isFixed || !Object.hasOwn(quantityWidths, member)) {
      constants[member] = value
      continue
    }
    const quantity = member as Quantity
    const memberPath = `${path}.${member}`
    if (quantity === 'quaternion') order = readOrder(value, memberPath)
    if (quantity === 'angular_velocity') spinFrame = readFrame(value, memberPath)
    columns[quantity] = readSlices(value, memberPath, quantityWidths[quantity], columnByName)
  }
  return { name, columns, constants, order, spinFrame }
}

function readOrder(value: unknown, path: string): QuaternionOrder {
  const order = isObject(value) ? value.order : undefined
  return order === 'wxyz' || order === 'xyzw'
    ? order
    : rejectMapping(
        `${path}.order`,
        '"wxyz" or "xyzw": see the documentation of the program that wrote the file',
      )
}

function readFrame(value: unknown, path: string): SpinFrame {
  const frame = isObject(value) ? value.frame : undefined
  return frame === 'world' || frame === 'body'
    ? frame
    : rejectMapping(`${path}.frame`, '"world" or "body", the frame of the angular velocity')
}

function readSlices(
  value: unknown,
  path: string,
  width: number,
  columnByName: ReadonlyMap<string, NamedColumn>,
): readonly ColumnSlice[] {
  const references = isObject(value) ? value.columns : value
  const list = Array.isArray(references) ? references : [references]
  const slices = list.map((reference) => readSlice(reference, path, columnByName))
  const count = slices.reduce((sum, slice) => sum + slice.count, 0)
  return count === width ? slices : rejectMapping(path, `columns with ${width} numbers, not ${count}`)
}

/** Parses `x`, `pose[3]` or `pose[0:3]`. Column names may contain brackets. */
function readSlice(
  reference: unknown,
  path: string,
  columnByName: ReadonlyMap<string, NamedColumn>,
): ColumnSlice {
  if (typeof reference !== 'string') return rejectMapping(path, 'names of columns')
  const wholeColumn = columnByName.get(reference)
  if (wholeColumn?.type === 'number') return { column: reference, from: 0, count: wholeColumn.width }
  const [, column = '', first = '', end] = /^(.*)\[(\d+)(?::(\d+))?\]$/.exec(reference) ?? []
  const slicedColumn = columnByName.get(column)
  const from = Number(first)
  const count = end === undefined ? 1 : Number(end) - from
  if (slicedColumn?.type === 'number' && count > 0 && from + count <= slicedColumn.width)
    return { column, from, count }
  return rejectMapping(path, `columns of numbers in the file, not ${JSON.stringify(reference.slice(0, 100))}`)
}

export function listUsedColumns({ time, frame, bodyColumn, where, bodies }: TableMapping): readonly string[] {
  const usedColumns = bodies.flatMap(({ columns }) =>
    Object.values(columns).flatMap((slices) => slices.map(({ column }) => column)),
  )
  if ('column' in time) usedColumns.push(time.column)
  if (frame !== null) usedColumns.push(frame)
  if (bodyColumn !== null) usedColumns.push(bodyColumn)
  usedColumns.push(...where.map(({ column }) => column))
  return [...new Set(usedColumns)]
}
