import type { Test } from 'tap'

/** Relative tolerance for numbers of the sidecars. */
const tolerance = 1e-9

/** Absolute tolerance for numbers near 0, because derived numbers contain rounding errors. */
const noise = 1e-12

/**
 * Asserts that `found` contains everything in `wanted`. Compares numbers with a tolerance; ignores additional
 * members.
 */
export function equalDeep(t: Test, found: unknown, wanted: unknown, name: string): void {
  t.same([...differences(found, wanted, name)], [], name)
}

function* differences(found: unknown, wanted: unknown, name: string): Generator<string> {
  if (typeof wanted === 'number') {
    if (!isNear(found, wanted)) yield `${name}: ${found} instead of ${wanted}`
  } else if (wanted === null || typeof wanted !== 'object') {
    if (found !== wanted) yield `${name}: ${found} instead of ${wanted}`
  } else {
    const there = Object(found) as Record<string, unknown>
    for (const [key, value] of Object.entries(wanted)) yield* differences(there[key], value, `${name}.${key}`)
    if (Array.isArray(wanted)) yield* differences(there.length, wanted.length, `${name}.length`)
  }
}

const isNear = (found: unknown, wanted: number): boolean =>
  typeof found === 'number' && Math.abs(found - wanted) <= Math.max(noise, tolerance * Math.abs(wanted))
