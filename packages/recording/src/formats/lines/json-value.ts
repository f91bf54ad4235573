import { isObject, limitData } from '@causeway/protocol'
import { RecordingError } from '../../errors.ts'

export type Members = Readonly<Record<string, unknown>>

/** A path for error messages, computed only for an error if it is a function. */
export type Path = string | (() => string)

const formatPath = (path: Path): string => (typeof path === 'string' ? path : path())

export function unexpected(at: Path, value: unknown, expected: string): never {
  const path = formatPath(at)
  const text = value === undefined ? 'missing' : JSON.stringify(limitData({ value }, 100).value)
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new RecordingError('INVALID_FRAME', `${path} is ${shown}, expected ${expected}`, {
    data: { path, expected },
  })
}

export function members(value: unknown, path: Path): Members {
  if (isObject(value)) return value
  return unexpected(path, value, 'an object')
}

export function list(value: unknown, path: Path): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : unexpected(path, value, 'a list')
}

const memberPath = (path: Path, name: string): string => {
  const outer = formatPath(path)
  return outer === '' ? name : `${outer}.${name}`
}

/**
 * Returns NaN for null or a missing value. Takes the value, because V8 optimizes property access per call
 * site.
 */
export function number(value: unknown, name: string, path: Path, unit: string): number {
  if (typeof value === 'number') return value
  return value === undefined || value === null
    ? Number.NaN
    : unexpected(memberPath(path, name), value, `a number${unit === '' ? '' : `, ${unit}`}, or null`)
}

/** Bounds are inclusive. */
export function whole(value: unknown, path: Path, low: number, high: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number
  return unexpected(path, value, `a whole number from ${low} to ${high}`)
}

/** Missing is `false`. */
export function flag(value: unknown, path: Path): boolean {
  if (typeof value === 'boolean') return value
  return value === undefined || value === null ? false : unexpected(path, value, 'true or false')
}

export interface VectorKind {
  readonly names: readonly string[]
  readonly unit: string
}

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

interface VectorPlace {
  readonly path: Path
  readonly to: Float64Array | number[]
  readonly at: number
  readonly kind: VectorKind
}

const xyz = ['x', 'y', 'z'] as const

export const xyzIn = (unit: string): VectorKind => ({ names: xyz, unit })

export function triple(value: unknown, name: string, path: Path, kind: VectorKind): [number, number, number] {
  const to: [number, number, number] = [Number.NaN, Number.NaN, Number.NaN]
  if (value !== undefined) writeVector(value, name, { path, to, at: 0, kind })
  return to
}

/** Rejects an unknown member: a misspelt name would lose data silently. */
export function requireKnown(from: Members, path: Path, known: ReadonlySet<string>): void {
  for (const key in from) if (!known.has(key)) unknownMember(path, key, [...known])
}

function unknownMember(at: Path, key: string, known: readonly string[]): never {
  const path = formatPath(at)
  throw new RecordingError(
    'INVALID_FRAME',
    `${path === '' ? 'the line' : path} has an unknown member ${key}`,
    {
      remedy: `leave it out, or use one of: ${known.join(', ')}`,
      data: { path: path === '' ? key : `${path}.${key}`, expected: known },
    },
  )
}
