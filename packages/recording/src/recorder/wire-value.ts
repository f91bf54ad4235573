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

/** A number; null and absent are NaN: not recorded. */
export function number(value: unknown, path: string, unit: string): number {
  if (typeof value === 'number') return value
  return value === undefined || value === null
    ? Number.NaN
    : unexpected(path, value, `a number${unit === '' ? '' : `, ${unit}`}, or null`)
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

/** Writes the components of a vector at a place: a list of numbers or an object with the named members. */
export function writeVector(
  value: unknown,
  to: Float64Array | number[],
  at: number,
  { names, path, unit }: { readonly names: readonly string[]; readonly path: string; readonly unit: string },
): void {
  const count = names.length
  if (value === undefined || value === null) {
    for (let i = 0; i < count; i++) to[at + i] = Number.NaN
    return
  }
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || (isList && value.length !== count))
    unexpected(path, value, `${count} numbers [${names.join(', ')}], ${unit}`)
  for (let i = 0; i < count; i++) {
    const component = isList ? value[i] : (value as Members)[names[i] ?? '']
    if (typeof component === 'number') to[at + i] = component
    else if (component === null) to[at + i] = Number.NaN
    else unexpected(`${path}.${names[i]}`, component, `a number, ${unit}, or null`)
  }
}

/** Refuses a member that nothing here reads: a misspelt quantity would be lost without a word. */
export function unknownMember(path: string, key: string, known: readonly string[]): never {
  throw new CausewayError('INVALID_FRAME', `${path === '' ? 'the line' : path} has a member ${key}`, {
    remedy: `leave it out, or use one of: ${known.join(', ')}`,
    data: { path: path === '' ? key : `${path}.${key}`, expected: known },
  })
}
