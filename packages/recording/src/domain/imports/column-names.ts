export type Quantity = 'position' | 'quaternion' | 'velocity' | 'angular_velocity' | 'acceleration'

export interface NamedColumn {
  readonly name: string
  readonly type: 'number' | 'text'
  readonly width: number
}

export interface ColumnGroup {
  readonly body: string
  readonly quantity: Quantity
  /** References, such as `x` or `pose[0:3]`. */
  readonly columns: readonly string[]
  /** Null if the names do not define it. */
  readonly order: 'wxyz' | 'xyzw' | null
}

const quantityWords: Readonly<Record<Quantity, readonly string[]>> = {
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
  quaternion: [
    ...['q', 'quat', 'quats', 'quaternion', 'quaternions', 'orientation', 'orientations', 'rot', 'rotation'],
    ...['rotations', 'xquat'],
  ],
  velocity: [
    ...['v', 'vel', 'velocity', 'velocities', 'linvel', 'linear velocity', 'linear velocities', 'lin vel'],
    'linear',
  ],
  angular_velocity: [
    ...['w', 'omega', 'om', 'angvel', 'angular velocity', 'angular velocities', 'ang vel', 'angular', 'gyro'],
    'spin',
  ],
  acceleration: ['a', 'acc', 'accel', 'acceleration', 'linear acceleration', 'lin acc'],
}

/** Joint coordinates, which are not positions in space. */
const jointWords = new Set(['joint', 'joints', 'dof', 'dofs', 'actuator', 'gripper', 'action', 'actions'])

const units: readonly (readonly [RegExp, Quantity])[] = [
  [/^m$/, 'position'],
  [/^m ?(s\^?-1|\/ ?s)$/, 'velocity'],
  [/^rad ?(s\^?-1|\/ ?s)$/, 'angular_velocity'],
  [/^m ?(s\^?-2|\/ ?s\^?2)$/, 'acceleration'],
]

/** Splits a name such as `x [m]`. An index or axis in brackets remains in the name. */
function splitUnit(name: string): { readonly base: string; readonly quantity: Quantity | null } {
  const [, base = name, unit = ''] = /^(.*\S) *[[(](?![\dwxyz][\])])([^[\]()]*)[\])]$/.exec(name) ?? []
  return { base, quantity: units.find(([pattern]) => pattern.test(unit.trim()))?.[1] ?? null }
}

const widths: Readonly<Record<Quantity, number>> = {
  position: 3,
  quaternion: 4,
  velocity: 3,
  angular_velocity: 3,
  acceleration: 3,
}

const quantities = Object.keys(quantityWords) as readonly Quantity[]

const splitName = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((token) => token !== '')

/** Returns the quantity and the words before it. */
function findQuantity(
  tokens: readonly string[],
): { quantity: Quantity; rest: readonly string[] } | undefined {
  // `pos_w` is the position in the world frame.
  const last = tokens.at(-1) ?? ''
  const worldMatch = ['w', 'world'].includes(last) ? findSuffix(tokens.slice(0, -1)) : undefined
  return worldMatch ?? findSuffix(tokens)
}

function findSuffix(tokens: readonly string[]) {
  for (const count of [2, 1]) {
    if (tokens.length < count) continue
    const ending = tokens.slice(-count).join(' ')
    const quantity = quantities.find((candidate) => quantityWords[candidate].includes(ending))
    if (quantity !== undefined) return { quantity, rest: tokens.slice(0, -count) }
  }
  return undefined
}

/** Reads names such as `p_RS_R_x`. */
function findPrefix([first = '', ...rest]: readonly string[]) {
  const quantity = quantities.find((candidate) => quantityWords[candidate].includes(first))
  return quantity === undefined ? undefined : { quantity, rest }
}

interface Component {
  readonly body: string
  readonly quantity: Quantity
  readonly component: string
}

const hasPrefixedNames = (columns: readonly NamedColumn[]): boolean =>
  columns.some(({ name }) => {
    const tokens = splitName(splitUnit(name).base)
    return tokens.length > 2 && tokens.at(-1) === 'x' && findPrefix(tokens)?.quantity === 'position'
  })

/** Reads names such as `base_pos_x`, `qw`, `x`. */
function readComponent(name: string, hasPrefix: boolean): Component | undefined {
  const { base, quantity } = splitUnit(name)
  const component = readName(splitName(base), hasPrefix)
  return quantity === null || component?.quantity === quantity ? component : undefined
}

function readName(tokens: readonly string[], hasPrefix: boolean): Component | undefined {
  const last = tokens.at(-1) ?? ''
  const compactMatch = /^([a-z]+)([wxyz]|[0-3])$/.exec(last)
  const isAxis = /^([wxyz]|[0-3])$/.test(last)
  const match = isAxis
    ? (findQuantity(tokens.slice(0, -1)) ?? (hasPrefix ? findPrefix(tokens.slice(0, -1)) : undefined))
    : compactMatch && findQuantity([...tokens.slice(0, -1), compactMatch[1] ?? ''])
  const component = isAxis ? last : (compactMatch?.[2] ?? '')
  if (match) return { body: toBodyName(match.rest), quantity: match.quantity, component }
  // A bare axis is a position. Next to a `w`, it would be ambiguous.
  return /^[xyz]$/.test(last) && (!hasPrefix || tokens.length === 1)
    ? { body: toBodyName(tokens.slice(0, -1)), quantity: 'position', component: last }
    : undefined
}

const toBodyName = (tokens: readonly string[]): string => tokens.join('_') || 'body'

export function groupColumns(columns: readonly NamedColumn[]): readonly ColumnGroup[] {
  const numbers = columns.filter(({ type }) => type === 'number')
  const hasPrefix = hasPrefixedNames(numbers)
  const components = new Map<string, { body: string; quantity: Quantity; columns: Map<string, string> }>()
  for (const { name } of numbers.filter(({ width }) => width === 1)) {
    const component = readComponent(name, hasPrefix)
    if (component === undefined) continue
    const key = `${component.body}\0${component.quantity}`
    const group = components.get(key) ?? { ...component, columns: new Map() }
    if (!group.columns.has(component.component)) group.columns.set(component.component, name)
    components.set(key, group)
  }
  // Poses and twists come first, because other arrays may be relative to a different frame.
  const wideColumns = numbers.filter(({ width }) => width > 1).sort((a, b) => getWideRank(a) - getWideRank(b))
  const groups = [
    ...[...components.values()].flatMap(({ body, quantity, columns: columnByComponent }) =>
      toGroup(body, quantity, columnByComponent),
    ),
    ...wideColumns.flatMap(groupWide),
  ]
  return hasPrefix ? joinOnlyBody(groups) : groups
}

const getWideRank = ({ name, width }: NamedColumn): number =>
  (width === 7 && /pose$/i.test(name)) || (width === 6 && /(vel|velocity)$/i.test(name)) ? 0 : 1

/** Assigns groups to the only body with a position if its name begins with theirs, such as `q_RS` to `p_RS_R`. */
function joinOnlyBody(groups: readonly ColumnGroup[]): readonly ColumnGroup[] {
  const [positionGroup, ...otherGroups] = groups.filter(({ quantity }) => quantity === 'position')
  if (positionGroup === undefined || otherGroups.length > 0) return groups
  return groups.map((group) =>
    positionGroup.body.startsWith(group.body) ? { ...group, body: positionGroup.body } : group,
  )
}

function toGroup(
  body: string,
  quantity: Quantity,
  columnByComponent: ReadonlyMap<string, string>,
): readonly ColumnGroup[] {
  const findColumns = (names: readonly string[]) => names.flatMap((name) => columnByComponent.get(name) ?? [])
  const count = widths[quantity]
  const axes = count === 4 ? ['w', 'x', 'y', 'z'] : ['x', 'y', 'z']
  const axisColumns = findColumns(axes)
  if (axisColumns.length === count)
    return [{ body, quantity, columns: axisColumns, order: count === 4 ? 'wxyz' : null }]
  const indexColumns = findColumns(['0', '1', '2', '3'].slice(0, count))
  return indexColumns.length === count ? [{ body, quantity, columns: indexColumns, order: null }] : []
}

const formatSlice = (name: string, from: number, count: number): string => `${name}[${from}:${from + count}]`

/** Reads a wide column as one body, or as all bodies in succession. */
function groupWide({ name, width }: NamedColumn): readonly ColumnGroup[] {
  const tokens = splitName(name.split('/').at(-1) ?? name)
  if (tokens.some((token) => jointWords.has(token))) return []
  const path = name.split('/').slice(0, -1).at(-1)
  const getBodyName = (rest: readonly string[]): string =>
    rest.length > 0 || path === undefined ? toBodyName(rest) : path
  const lastToken = tokens.slice(-1)[0] ?? ''
  if (lastToken === 'pose' && width === 7)
    return [
      {
        body: getBodyName(removeRootSuffix(tokens)),
        quantity: 'position',
        columns: [formatSlice(name, 0, 3)],
        order: null,
      },
      {
        body: getBodyName(removeRootSuffix(tokens)),
        quantity: 'quaternion',
        columns: [formatSlice(name, 3, 4)],
        order: null,
      },
    ]
  if (['velocity', 'vel'].includes(lastToken) && width === 6)
    return [
      {
        body: getBodyName(removeRootSuffix(tokens)),
        quantity: 'velocity',
        columns: [formatSlice(name, 0, 3)],
        order: null,
      },
      {
        body: getBodyName(removeRootSuffix(tokens)),
        quantity: 'angular_velocity',
        columns: [formatSlice(name, 3, 3)],
        order: null,
      },
    ]
  const match = findQuantity(tokens)
  if (match === undefined || width % widths[match.quantity] !== 0) return []
  const count = width / widths[match.quantity]
  const body = getBodyName(match.rest)
  return Array.from({ length: count }, (_, i) => ({
    body: count === 1 ? body : `${body}_${i + 1}`,
    quantity: match.quantity,
    columns: [formatSlice(name, i * widths[match.quantity], widths[match.quantity])],
    order: null,
  }))
}

const removeRootSuffix = (tokens: readonly string[]): readonly string[] => {
  const rest = tokens.slice(0, -1)
  return rest.at(-1) === 'root' ? rest.slice(0, -1) : rest
}

interface TimeColumn {
  readonly name: string
  readonly unit: 's' | 'ms' | 'us' | 'ns'
}

const timeWords =
  /^(t|time|times|timestamp|timestamps|stamp|sim time|simulation time|sec|secs|seconds|elapsed)( (s|ms|us|ns|sec|seconds|nanoseconds|milliseconds|microseconds))?$/

/** Assumes seconds if the name has no unit. */
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

export const findBodyColumn = (columns: readonly NamedColumn[]): string | null =>
  columns.find(({ name, width }) => width === 1 && bodyWords.has(splitName(name).join(' ')))?.name ?? null
