import t, { Test } from 'tap'
import type { Channel, Requirement } from './requirement.ts'
import { type RequirementId, requirement } from './requirements.ts'

/** The body of a test that proves a requirement; `channel` is `direct` if the requirement lists no channels. */
export type Proof = (t: Test, channel: Channel) => Promise<void>

/**
 * Registers a tap test that proves a requirement, once for each channel that it lists. The id must be a literal, because
 * `requirements.test.ts` parses the test files.
 */
export function verifies(id: RequirementId, proof: Proof): void
/** Registers a test with its own title, for one of several tests of the same requirement. */
export function verifies(id: RequirementId, claim: string, proof: Proof): void
export function verifies(id: RequirementId, ...rest: [Proof] | [string, Proof]): void {
  const row = requirement(id)
  const [claim, proof] = rest.length === 1 ? [row.behaviour, rest[0]] : rest
  for (const channel of row.over ?? [undefined]) {
    const name = channel === undefined ? `${id}: ${claim}` : `${id}: ${claim} (${channel})`
    const body = (t: Test) => proof(t, channel ?? 'direct')
    t.test(name, row.knownFailure === undefined ? body : expectFailure(row, body))
  }
}

/** Inverts a test: it passes while the known failure exists, and fails when the requirement is met. */
export function expectFailure(row: Requirement, body: (t: Test) => Promise<void>) {
  return async (t: Test): Promise<void> => {
    const probe = new Test({ name: row.behaviour, cb: body })
    probe.resume()
    await new Promise<void>((resolve) => probe.main(() => resolve()))
    t.notOk(
      probe.passing(),
      `known failure: ${row.knownFailure}; remove "knownFailure" once the requirement is met`,
    )
  }
}
