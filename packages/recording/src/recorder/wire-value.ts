/** Reading the values of a line: what does not fit says where it stands and what was expected. */
import { CausewayError, isObject, limitData } from '@causeway/protocol'

/** A JSON object whose members are still to be checked. */
export type Members = Readonly<Record<string, unknown>>

/** Where a value stands: put together for an error only, since thousands of values stand in their place in every line. */
export type Path = string | (() => string)

const textOf = (path: Path): string => (typeof path === 'string' ? path : path())

/** Throws `INVALID_FRAME`: `path` names the member, `expected` says what belongs there. */
export function unexpected(at: Path, value: unknown, expected: string): never {
  const path = textOf(at)
  const text = value === undefined ? 'missing' : JSON.stringify(limitData({ value }, 100).value)
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new CausewayError('INVALID_FRAME', `${path} is ${shown}, expected ${expected}`, {
    data: { path, expected },
  })
}

/** An object. */
export function members(value: unknown, path: Path): Members {
  if (isObject(value)) return value
  return unexpected(path, value, 'an object')
}

/** A list; absent is empty. */
export function list(value: unknown, path: Path): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : unexpected(path, value, 'a list')
}

/** The path of a member. */
const memberPath = (path: Path, name: string): string => {
  const outer = textOf(path)
  return outer === '' ? name : `${outer}.${name}`
}

/**
 * The value of the member `name`, a number; null and absent are NaN: not recorded. The value is given and not taken here:
 * V8 remembers where a member stands for each place in the code that names it, and for none that names them all.
 */
export function number(value: unknown, name: string, path: Path, unit: string): number {
  if (typeof value === 'number') return value
  return value === undefined || value === null
    ? Number.NaN
    : unexpected(memberPath(path, name), value, `a number${unit === '' ? '' : `, ${unit}`}, or null`)
}

/** A whole number between two bounds. */
export function whole(value: unknown, path: Path, low: number, high: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number
  return unexpected(path, value, `a whole number from ${low} to ${high}`)
}

/** true or false; absent is false. */
export function flag(value: unknown, path: Path): boolean {
  if (typeof value === 'boolean') return value
  return value === undefined || value === null ? false : unexpected(path, value, 'true or false')
}

/** What the components of a vector are called, and their unit. */
export interface VectorKind {
  readonly names: readonly string[]
  readonly unit: string
}

/** Writes the components of the value of a member at a place: a list of numbers or an object with the named members. */
export function writeVector(value: unknown, name: string, { path, to, at, kind }: VectorPlace): void {
  const { names } = kind
  const count = names.length
  if (value === undefined || value === null) {
    for (let i = 0; i < count; i++) to[at + i] = Number.NaN
    return
  }
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || (isList && value.length !== count))
    unexpected(memberPath(path, name), value, `${count} numbers [${names.join(', ')}], ${kind.unit}`)
  for (let i = 0; i < count; i++) {
    const component = isList ? value[i] : (value as Members)[names[i] ?? '']
    if (typeof component === 'number') to[at + i] = component
    else if (component === null) to[at + i] = Number.NaN
    else unexpected(`${memberPath(path, name)}.${names[i]}`, component, `a number, ${kind.unit}, or null`)
  }
}

/** Where a vector is written, and where its member stands. */
export interface VectorPlace {
  readonly path: Path
  readonly to: Float64Array | number[]
  readonly at: number
  readonly kind: VectorKind
}

const xyz = ['x', 'y', 'z'] as const

/** A kind of x, y, z. */
export const xyzIn = (unit: string): VectorKind => ({ names: xyz, unit })

/** The value of a member that is a vector of three. */
export function triple(value: unknown, name: string, path: Path, kind: VectorKind): [number, number, number] {
  const to: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
  if (value !== undefined) writeVector(value, name, { path, to, at: 0, kind })
  return to
}

/** Throws `INVALID_FRAME` where an object has a member that is not one of these. */
export function requireKnown(from: Members, path: Path, known: ReadonlySet<string>): void {
  for (const key in from) if (!known.has(key)) unknownMember(path, key, [...known])
}

/** Refuses a member that nothing here reads: a misspelt quantity would be lost without a word. */
function unknownMember(at: Path, key: string, known: readonly string[]): never {
  const path = textOf(at)
  throw new CausewayError('INVALID_FRAME', `${path === '' ? 'the line' : path} has a member ${key}`, {
    remedy: `leave it out, or use one of: ${known.join(', ')}`,
    data: { path: path === '' ? key : `${path}.${key}`, expected: known },
  })
}
