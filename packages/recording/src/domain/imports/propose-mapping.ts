import { type ColumnGroup, findBodyColumn, findTime, groupColumns, type NamedColumn } from './column-names.ts'
import { decideOrder, type QuaternionOrder } from './quaternion-order.ts'
import { anyBody } from './table-mapping.ts'

export interface Sample {
  /** Returns the values of a reference such as `x` or `pose[0:3]`, row by row; null if the column does not exist. */
  numbers(reference: string): ArrayLike<number> | null
  readonly rows: number
}

export interface OrderHint {
  readonly order: QuaternionOrder
  readonly reason: string
}

export interface Proposal {
  readonly mapping: Readonly<Record<string, unknown>> | null
  readonly notes: readonly string[]
}

/** Returns a mapping whose undecided members are null; no mapping if there are no positions. */
export function proposeMapping(
  columns: readonly NamedColumn[],
  sample: Sample,
  hint: OrderHint | null = null,
): Proposal {
  const groups = groupColumns(columns)
  const notes: string[] = []
  const bodyColumn = findBodyColumn(columns)
  const names = [...new Set(groups.filter(({ quantity }) => quantity === 'position').map(({ body }) => body))]
  if (names.length === 0)
    return { mapping: null, notes: ['no columns are named like positions: write a mapping by hand'] }
  const time = proposeTime(columns, sample, notes)
  const isLongTable = bodyColumn !== null && names.length === 1
  const bodies = names.map((name) => {
    const bodyGroups = groups.filter(({ body }) => body === name)
    const times =
      'time' in time && typeof time.time === 'string' && !isLongTable ? sample.numbers(time.time) : null
    return [
      isLongTable ? anyBody : name,
      proposeBody(bodyGroups, { name, times, time, sample, hint, notes }),
    ] as const
  })
  return {
    mapping: { ...time, ...(isLongTable ? { body: bodyColumn } : {}), bodies: Object.fromEntries(bodies) },
    notes,
  }
}

type ProposedTime =
  | { readonly time: string; readonly time_unit: string }
  | { readonly time: { readonly step: null } }

function proposeTime(columns: readonly NamedColumn[], sample: Sample, notes: string[]): ProposedTime {
  const timeColumn = findTime(columns)
  if (timeColumn === null) {
    notes.push(
      'no column is named like a time: set time to a column, or time.step to the seconds between rows',
    )
    return { time: { step: null } }
  }
  const first = Math.abs(sample.numbers(timeColumn.name)?.[0] ?? 0)
  // Seconds since 1970 are about 1.7e9.
  const magnitude = first > 1e17 ? 'ns' : first > 1e14 ? 'us' : first > 1e11 ? 'ms' : null
  if (magnitude === null || timeColumn.unit !== 's')
    return { time: timeColumn.name, time_unit: timeColumn.unit }
  notes.push(
    `${timeColumn.name} is about ${first.toPrecision(3)}: its unit is taken as ${magnitude} since 1970`,
  )
  return { time: timeColumn.name, time_unit: magnitude }
}

interface BodyOptions {
  readonly name: string
  readonly times: ArrayLike<number> | null
  readonly time: ProposedTime
  readonly sample: Sample
  readonly hint: OrderHint | null
  readonly notes: string[]
}

const perSecond: Readonly<Record<string, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 }

function proposeBody(groups: readonly ColumnGroup[], options: BodyOptions): object {
  const body: Record<string, unknown> = {}
  const quaternion = groups.find(({ quantity }) => quantity === 'quaternion')
  const spin = groups.find(({ quantity }) => quantity === 'angular_velocity')
  const decision = quaternion && spin && decideFromSpin(quaternion, spin, options)
  for (const { quantity, columns } of groups) {
    // `decision` applies only to the first columns of a quantity.
    if (body[quantity] !== undefined) continue
    if (quantity === 'quaternion') {
      const order = proposeOrder(quaternion as ColumnGroup, decision, options)
      body.quaternion = { columns, order }
    } else if (quantity === 'angular_velocity') {
      const frame = decision?.order == null ? null : (decision.frame ?? 'world')
      if (frame === null)
        options.notes.push(`${options.name}: set angular_velocity.frame to "world" or "body"`)
      body.angular_velocity = { columns, frame }
    } else body[quantity] = columns
  }
  return body
}

function decideFromSpin(quaternion: ColumnGroup, spin: ColumnGroup, { times, time, sample }: BodyOptions) {
  const scale = 'time_unit' in time ? (perSecond[time.time_unit] ?? 1) : 1
  const joinColumns = (references: readonly string[], width: number): Float64Array | null => {
    const parts = references.map((reference) => sample.numbers(reference))
    if (parts.some((part) => part === null)) return null
    const joinedValues = new Float64Array(sample.rows * width)
    const partWidth = width / parts.length
    parts.forEach((part, p) => {
      for (let row = 0; row < sample.rows; row++)
        for (let k = 0; k < partWidth; k++)
          joinedValues[row * width + p * partWidth + k] = part?.[row * partWidth + k] ?? NaN
    })
    return joinedValues
  }
  const [quaternions, spins] = [joinColumns(quaternion.columns, 4), joinColumns(spin.columns, 3)]
  if (times === null || quaternions === null || spins === null) return undefined
  return decideOrder({ times: Float64Array.from(times, (t) => t / scale), quaternions, spins })
}

function proposeOrder(
  { order: namedOrder }: ColumnGroup,
  decision: ReturnType<typeof decideFromSpin>,
  { name, hint, notes }: BodyOptions,
): QuaternionOrder | null {
  const decidedOrder = decision?.order ?? null
  const errorText = decision
    ? `error ${formatShare(decision.errors.wxyz)} as wxyz, ${formatShare(decision.errors.xyzw)} as xyzw`
    : ''
  const knownOrder = namedOrder ?? hint?.order ?? null
  if (knownOrder !== null) {
    if (namedOrder === null && hint !== null) notes.push(`${name}: ${hint.reason}`)
    if (decidedOrder !== null && decidedOrder !== knownOrder)
      notes.push(`${name}: angular velocity contradicts the order ${knownOrder} (${errorText}): check it`)
    return knownOrder
  }
  if (decidedOrder !== null) {
    notes.push(
      `${name}: the order is ${decidedOrder}, because angular velocity agrees with the poses only in this order (${errorText})`,
    )
    return decidedOrder
  }
  notes.push(
    decision
      ? `${name}: the rotation in the first rows does not decide the order of the quaternion: set it to "wxyz" or "xyzw"`
      : `${name}: without times and angular velocity the data cannot decide the order of the quaternion: set it to "wxyz" or "xyzw"`,
  )
  return null
}

const formatShare = (error: number): string =>
  Number.isFinite(error) ? `${(100 * error).toPrecision(2)} %` : 'unknown'
