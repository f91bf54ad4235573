/** Reading the values of a line: what does not fit says where it stands and what was expected. */
import { CausewayError } from '@causeway/protocol'

/** A JSON object whose members are still to be checked. */
export type Members = Readonly<Record<string, unknown>>

/** Throws `INVALID_FRAME`: `path` names the member, `expected` says what belongs there. */
export function unexpected(path: string, value: unknown, expected: string): never {
  const text = value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value))
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new CausewayError('INVALID_FRAME', `${path} is ${shown}, expected ${expected}`, {
    data: { path, expected },
  })
}

/** An object. */
export function members(value: unknown, path: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  return unexpected(path, value, 'an object')
}

/** A list; absent is empty. */
export function list(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : unexpected(path, value, 'a list')
}

const memberPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** A member that is a number; null and absent are NaN: not recorded. Its path is only put together for an error. */
export function number(from: Members, name: string, path: string, unit: string): number {
  const value = from[name]
  if (typeof value === 'number') return value
  return value === undefined || value === null
    ? Number.NaN
    : unexpected(memberPath(path, name), value, `a number${unit === '' ? '' : `, ${unit}`}, or null`)
}

/** A whole number between two bounds. */
export function whole(value: unknown, path: string, low: number, high: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number
  return unexpected(path, value, `a whole number from ${low} to ${high}`)
}

/** true or false; absent is false. */
export function flag(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  return value === undefined || value === null ? false : unexpected(path, value, 'true or false')
}

/** What the components of a vector are called, and their unit. */
export interface VectorKind {
  readonly names: readonly string[]
  readonly unit: string
}

/** Writes the components of a member at a place: a list of numbers or an object with the named members. */
export function writeVector(from: Members, name: string, { path, to, at, kind }: VectorPlace): void {
  const value = from[name]
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
  readonly path: string
  readonly to: Float64Array | number[]
  readonly at: number
  readonly kind: VectorKind
}

const xyz = ['x', 'y', 'z'] as const

/** A kind of x, y, z. */
export const xyzIn = (unit: string): VectorKind => ({ names: xyz, unit })

/** A member that is a vector of three. */
export function triple(
  from: Members,
  name: string,
  path: string,
  kind: VectorKind,
): [number, number, number] {
  const to: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
  if (from[name] !== undefined) writeVector(from, name, { path, to, at: 0, kind })
  return to
}

/** Throws `INVALID_FRAME` where an object has a member that is not one of these. */
export function requireKnown(from: Members, path: string, known: ReadonlySet<string>): void {
  for (const key in from) if (!known.has(key)) unknownMember(path, key, [...known])
}

/** Refuses a member that nothing here reads: a misspelt quantity would be lost without a word. */
function unknownMember(path: string, key: string, known: readonly string[]): never {
  throw new CausewayError('INVALID_FRAME', `${path === '' ? 'the line' : path} has a member ${key}`, {
    remedy: `leave it out, or use one of: ${known.join(', ')}`,
    data: { path: path === '' ? key : `${path}.${key}`, expected: known },
  })
}
