/** What a run costs, and when it was written. */
interface Kept {
  readonly bytes: number
  /** epoch ms */
  readonly updated_ms: number
}

/**
 * Runs to remove, of those given in the order in which they were written last: those older than `ageMs` (0 keeps all),
 * and then the oldest ones until they and the `held` bytes of live runs fit under `bytes`.
 */
export function expiredRuns<Run extends Kept>(
  runs: readonly Run[],
  held: number,
  limits: { readonly bytes: number; readonly ageMs: number },
  nowMs: number,
): readonly Run[] {
  let over = held + runs.reduce((sum, { bytes }) => sum + bytes, 0) - limits.bytes
  return runs.filter(({ bytes, updated_ms }) => {
    const isOld = limits.ageMs > 0 && nowMs - updated_ms > limits.ageMs
    if (!isOld && over <= 0) return false
    over -= bytes
    return true
  })
}
