import { isObject, limitData, reviseError } from '@causeway/protocol'
import { RecordingError } from '../../errors.ts'

export type Members = Readonly<Record<string, unknown>>

/** Throws `INVALID_FRAME`. `path` is relative to the object that `withPath` or `readItems` reads; '' is that object. */
export function rejectValue(path: string, value: unknown, expected: string): never {
  const text = value === undefined ? 'missing' : JSON.stringify(limitData({ value }, 100).value)
  const shortText = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new RecordingError('INVALID_FRAME', `${path} is ${shortText}, expected ${expected}`, {
    data: { path, expected },
  })
}

/** Adds `path` to the errors of `read`. */
export function withPath<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw addPath(path, error)
  }
}

/** Reads the items of a list, which may be missing. */
export function readItems(value: unknown, name: string, read: (item: unknown, i: number) => void): void {
  const items = toList(value, name)
  for (let i = 0; i < items.length; i++)
    try {
      read(items[i], i)
    } catch (error) {
      throw addPath(`${name}[${i}]`, error)
    }
}

function addPath(outer: string, error: unknown): unknown {
  if (!RecordingError.is(error, 'INVALID_FRAME')) return error
  const { message, data } = error
  return reviseError(error, {
    message: `${outer}${message.startsWith(' ') ? '' : '.'}${message}`,
    data: { ...data, path: data.path === '' ? outer : `${outer}.${data.path}` },
  })
}

export function toMembers(value: unknown, path = ''): Members {
  return isObject(value) ? value : rejectValue(path, value, 'an object')
}

export function toList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : rejectValue(name, value, 'a list')
}

/** Returns NaN if the value is null or missing. */
export function readNumber(value: unknown, name: string, unit: string): number {
  if (typeof value === 'number') return value
  return value === undefined || value === null
    ? Number.NaN
    : rejectValue(name, value, `a number${unit === '' ? '' : `, ${unit}`}, or null`)
}

/** Bounds are inclusive. */
export function readInteger(value: unknown, name: string, low: number, high: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number
  return rejectValue(name, value, `a whole number from ${low} to ${high}`)
}

/** Returns `false` for a missing value. */
export function readFlag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  return value === undefined || value === null ? false : rejectValue(name, value, 'true or false')
}

export interface Vector {
  readonly name: string
  readonly components: readonly string[]
  readonly unit: string
}

const xyz = ['x', 'y', 'z'] as const

export const vector = (name: string, unit: string): Vector => ({ name, components: xyz, unit })

export const quaternion = (name: string): Vector => ({
  name,
  components: ['w', 'x', 'y', 'z'],
  unit: 'quaternion, w first',
})

type Numbers = Float64Array | number[]

/** Writes in place, because an object per call would be slower. */
export function writeVector(
  value: unknown,
  { name, components, unit }: Vector,
  to: Numbers,
  at: number,
): void {
  const count = components.length
  if (value === undefined || value === null) {
    for (let i = 0; i < count; i++) to[at + i] = Number.NaN
    return
  }
  // Optimized indexing would convert a list of integers to doubles; `at` does not.
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || (isList && value.length !== count))
    rejectValue(name, value, `${count} numbers [${components.join(', ')}], ${unit}`)
  for (let i = 0; i < count; i++) {
    const component = isList ? value.at(i) : (value as Members)[components[i] ?? '']
    if (typeof component === 'number') to[at + i] = component
    else if (component === null) to[at + i] = Number.NaN
    else rejectValue(`${name}.${components[i]}`, component, `a number, ${unit}, or null`)
  }
}

export function readTriple(value: unknown, member: Vector): [number, number, number] {
  const to: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
  if (value !== undefined) writeVector(value, member, to, 0)
  return to
}

/** Throws `INVALID_FRAME` for an unknown member: a misspelt name would silently lose data. */
export function requireKnownMembers(from: Members, knownMembers: ReadonlySet<string>, path = ''): void {
  for (const key in from) if (!knownMembers.has(key)) rejectMember(path, key, [...knownMembers])
}

function rejectMember(path: string, key: string, knownMembers: readonly string[]): never {
  throw new RecordingError('INVALID_FRAME', `${path} has an unknown member ${key}`, {
    remedy: `leave it out, or use one of: ${knownMembers.join(', ')}`,
    data: { path: key, expected: knownMembers },
  })
}
