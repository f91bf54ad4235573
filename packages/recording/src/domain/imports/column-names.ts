/** Finds the meaning of columns by their names. */

export type Quantity = 'position' | 'quaternion' | 'velocity' | 'angular_velocity' | 'acceleration'

export interface NamedColumn {
  readonly name: string
  readonly type: 'number' | 'text'
  readonly width: number
}

/** Columns that together are a quantity of a body. */
export interface ColumnGroup {
  readonly body: string
  readonly quantity: Quantity
  /** References, such as `x` or `pose[0:3]`. */
  readonly columns: readonly string[]
  /** Order of the components of a quaternion, if the names define it. */
  readonly order: 'wxyz' | 'xyzw' | null
}

const words: Readonly<Record<Quantity, readonly string[]>> = {
  position: [
    'p',
    'pos',
    'position',
    'positions',
    'xyz',
    'xpos',
    'loc',
    'location',
    'translation',
    'com',
    'xipos',
  ],
  quaternion: ['q', 'quat', 'quaternion', 'quaternions', 'orientation', 'rot', 'rotation', 'xquat'],
  velocity: ['v', 'vel', 'velocity', 'velocities', 'linvel', 'linear velocity', 'lin vel', 'linear'],
  angular_velocity: ['w', 'omega', 'om', 'angvel', 'angular velocity', 'ang vel', 'angular', 'gyro', 'spin'],
  acceleration: ['a', 'acc', 'accel', 'acceleration', 'linear acceleration', 'lin acc'],
}

const widths: Readonly<Record<Quantity, number>> = {
  position: 3,
  quaternion: 4,
  velocity: 3,
  angular_velocity: 3,
  acceleration: 3,
}

const quantities = Object.keys(words) as readonly Quantity[]

const splitName = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((token) => token !== '')

/** Returns the quantity at the end of the words, and the words before it. */
function findQuantity(
  tokens: readonly string[],
): { quantity: Quantity; rest: readonly string[] } | undefined {
  for (const count of [2, 1]) {
    if (tokens.length < count) continue
    const ending = tokens.slice(-count).join(' ')
    const quantity = quantities.find((one) => words[one].includes(ending))
    if (quantity !== undefined) return { quantity, rest: tokens.slice(0, -count) }
  }
  return undefined
}

interface Component {
  readonly body: string
  readonly quantity: Quantity
  readonly component: string
}

/** Returns the component that a column of one number holds: `base_pos_x`, `qw`, `x`. */
function readComponent(name: string): Component | undefined {
  const tokens = splitName(name)
  const last = tokens.at(-1) ?? ''
  const compact = /^([a-z]+)([wxyz]|[0-3])$/.exec(last)
  const isAxis = /^([wxyz]|[0-3])$/.test(last)
  const found = isAxis
    ? findQuantity(tokens.slice(0, -1))
    : compact && findQuantity([...tokens.slice(0, -1), compact[1] ?? ''])
  const component = isAxis ? last : (compact?.[2] ?? '')
  if (found) return { body: toBody(found.rest), quantity: found.quantity, component }
  // A bare axis is a position, and `w` next to it would be ambiguous.
  return /^[xyz]$/.test(last)
    ? { body: toBody(tokens.slice(0, -1)), quantity: 'position', component: last }
    : undefined
}

const toBody = (tokens: readonly string[]): string => tokens.join('_') || 'body'

/** Returns the groups of columns that are a quantity of a body. */
export function groupColumns(columns: readonly NamedColumn[]): readonly ColumnGroup[] {
  const numbers = columns.filter(({ type }) => type === 'number')
  const components = new Map<string, { body: string; quantity: Quantity; columns: Map<string, string> }>()
  for (const { name } of numbers.filter(({ width }) => width === 1)) {
    const found = readComponent(name)
    if (found === undefined) continue
    const key = `${found.body}\0${found.quantity}`
    const group = components.get(key) ?? { ...found, columns: new Map() }
    if (!group.columns.has(found.component)) group.columns.set(found.component, name)
    components.set(key, group)
  }
  return [
    ...[...components.values()].flatMap(({ body, quantity, columns: named }) =>
      toGroup(body, quantity, named),
    ),
    ...numbers.filter(({ width }) => width > 1).flatMap(groupWide),
  ]
}

function toGroup(
  body: string,
  quantity: Quantity,
  named: ReadonlyMap<string, string>,
): readonly ColumnGroup[] {
  const take = (names: readonly string[]) => names.flatMap((name) => named.get(name) ?? [])
  const count = widths[quantity]
  const axes = count === 4 ? ['w', 'x', 'y', 'z'] : ['x', 'y', 'z']
  const lettered = take(axes)
  if (lettered.length === count)
    return [{ body, quantity, columns: lettered, order: count === 4 ? 'wxyz' : null }]
  const numbered = take(['0', '1', '2', '3'].slice(0, count))
  return numbered.length === count ? [{ body, quantity, columns: numbered, order: null }] : []
}

const slice = (name: string, from: number, count: number): string => `${name}[${from}:${from + count}]`

/** Groups a column with several numbers per row: one body, or all bodies one after the other. */
function groupWide({ name, width }: NamedColumn): readonly ColumnGroup[] {
  const tokens = splitName(name.split('/').at(-1) ?? name)
  const path = name.split('/').slice(0, -1).at(-1)
  const own = (rest: readonly string[]): string =>
    rest.length > 0 || path === undefined ? toBody(rest) : path
  const ending = tokens.slice(-1)[0] ?? ''
  if (ending === 'pose' && width === 7)
    return [
      { body: own(skipRoot(tokens)), quantity: 'position', columns: [slice(name, 0, 3)], order: null },
      { body: own(skipRoot(tokens)), quantity: 'quaternion', columns: [slice(name, 3, 4)], order: null },
    ]
  if (['velocity', 'vel'].includes(ending) && width === 6)
    return [
      { body: own(skipRoot(tokens)), quantity: 'velocity', columns: [slice(name, 0, 3)], order: null },
      {
        body: own(skipRoot(tokens)),
        quantity: 'angular_velocity',
        columns: [slice(name, 3, 3)],
        order: null,
      },
    ]
  const found = findQuantity(tokens)
  if (found === undefined || width % widths[found.quantity] !== 0) return []
  const count = width / widths[found.quantity]
  const body = own(found.rest)
  return Array.from({ length: count }, (_, i) => ({
    body: count === 1 ? body : `${body}_${i + 1}`,
    quantity: found.quantity,
    columns: [slice(name, i * widths[found.quantity], widths[found.quantity])],
    order: null,
  }))
}

/** Drops the last word, and `root` before it. */
const skipRoot = (tokens: readonly string[]): readonly string[] => {
  const rest = tokens.slice(0, -1)
  return rest.at(-1) === 'root' ? rest.slice(0, -1) : rest
}

export interface TimeColumn {
  readonly name: string
  readonly unit: 's' | 'ms' | 'us' | 'ns'
}

const timeWords =
  /^(t|time|times|timestamp|timestamps|stamp|sim time|simulation time|sec|secs|seconds|elapsed)( (s|ms|us|ns|sec|seconds|nanoseconds|milliseconds|microseconds))?$/

/** Returns the column of times by its name. The unit is that of the name, else seconds. */
export function findTime(columns: readonly NamedColumn[]): TimeColumn | null {
  for (const { name, type, width } of columns) {
    const match = timeWords.exec(splitName(name.split('/').at(-1) ?? name).join(' '))
    if (type !== 'number' || width !== 1 || match === null) continue
    const unit = match[3] ?? 's'
    if (unit.startsWith('n')) return { name, unit: 'ns' }
    if (unit === 'us' || unit.startsWith('microsecond')) return { name, unit: 'us' }
    return { name, unit: unit === 'ms' || unit.startsWith('millisecond') ? 'ms' : 's' }
  }
  return null
}

const bodyWords = new Set(['body', 'body id', 'body name', 'object', 'object id', 'name', 'link', 'entity'])

/** Returns the column that names the body of a row, for tables with one row for each body and time. */
export const findBodyColumn = (columns: readonly NamedColumn[]): string | null =>
  columns.find(({ name, width }) => width === 1 && bodyWords.has(splitName(name).join(' ')))?.name ?? null
