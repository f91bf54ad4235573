import type { Test } from 'tap'

/** Numbers of the sidecars are compared with this relative tolerance, */
const tolerance = 1e-9

/** and those that ought to be 0 with this one: what is derived from recorded numbers carries their rounding. */
const noise = 1e-12

/** Where `found` lacks something of `wanted`, as paths; numbers within the tolerance are equal, more may be found. */
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

/** Asserts that everything in `wanted` is found. */
export const holds = (t: Test, found: unknown, wanted: unknown, name: string): void =>
  void t.same(differences(found, wanted), [], name)
