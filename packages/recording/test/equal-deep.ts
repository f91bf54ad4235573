import type { Test } from 'tap'

/** Numbers of the sidecars are compared with this relative tolerance, */
const tolerance = 1e-9

/** and those that ought to be 0 with this one: what is derived from recorded numbers carries their rounding. */
const noise = 1e-12

/** True where a number was found that is as good as the wanted one. */
export const isNear = (found: unknown, wanted: number): boolean =>
  typeof found === 'number' && Math.abs(found - wanted) <= Math.max(noise, tolerance * Math.abs(wanted))

/** Asserts that everything in `wanted` is found, numbers within the tolerance; more may be found. */
export function equalDeep(t: Test, found: unknown, wanted: unknown, name: string): void {
  if (typeof wanted === 'number') {
    t.ok(isNear(found, wanted), `${name}: ${found} is near ${wanted}`)
  } else if (wanted === null || typeof wanted !== 'object') {
    t.equal(found, wanted, name)
  } else {
    const there = Object(found) as Record<string, unknown>
    for (const [key, value] of Object.entries(wanted)) equalDeep(t, there[key], value, `${name}.${key}`)
    if (Array.isArray(wanted)) t.equal(there.length, wanted.length, `${name}.length`)
  }
}
