/**
 * What `npm test` leaves to CI: faults that end processes, foreign programs, volumes of data, and most of similar cases. `.ci/run` sets
 * `CAUSEWAY_ALL_TESTS`, and `npm run check:long` sets `CAUSEWAY_LONG`, which runs everything. A file whose tests all start servers, bridges,
 * commands or foreign programs belongs into the folder `e2e/` of its package, which `npm test` leaves out, see `.taprc`.
 */
import type { Test } from 'tap'

/** Whether the full number of cases runs. */
export const isLong = process.env.CAUSEWAY_LONG !== undefined

/** Whether every test runs. */
export const isComplete = process.env.CAUSEWAY_ALL_TESTS !== undefined || isLong

type Body<Rest extends readonly unknown[]> = (t: Test, ...rest: Rest) => Promise<void>

/** Returns a test that only CI runs; `npm test` reports it as skipped. */
export function inCI<Rest extends readonly unknown[]>(body: Body<Rest>): Body<Rest> | Body<[]> {
  if (isComplete) return body
  return async (t: Test) => {
    t.pass('left to CI', { skip: 'set CAUSEWAY_ALL_TESTS to run it' })
  }
}

/** Returns every n-th case in `npm test`, about twice as many in CI, and all with `CAUSEWAY_LONG`. */
export function sample<Case>(cases: readonly Case[], every: number): readonly Case[] {
  const step = isLong ? 1 : isComplete ? Math.ceil(every / 2) : every
  return cases.filter((_, index) => index % step === 0)
}
