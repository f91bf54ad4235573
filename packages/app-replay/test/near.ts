import type { Test } from 'tap'

/** Relative tolerance of numbers. */
const tolerance = 1e-9

/** Absolute tolerance, because derived values contain rounding errors. */
const noise = 1e-12

/** Returns the paths of members of `wanted` that `found` does not contain. Ignores additional members. */
export function differences(found: unknown, wanted: unknown, path = ''): string[] {
  if (typeof wanted === 'number') {
    const isNear =
      typeof found === 'number' && Math.abs(found - wanted) <= Math.max(noise, tolerance * Math.abs(wanted))
    return isNear ? [] : [`${path}: ${String(found)} for ${wanted}`]
  }
  if (wanted === null || typeof wanted !== 'object')
    return found === wanted ? [] : [`${path}: ${String(found)} for ${String(wanted)}`]
  const there = Object(found) as Record<string, unknown>
  const length =
    Array.isArray(wanted) && there.length !== wanted.length
      ? [`${path}: ${String(there.length)} rows for ${wanted.length}`]
      : []
  return [
    ...length,
    ...Object.entries(wanted).flatMap(([key, value]) => differences(there[key], value, `${path}.${key}`)),
  ]
}

export const holds = (t: Test, found: unknown, wanted: unknown, name: string): void =>
  void t.same(differences(found, wanted), [], name)
