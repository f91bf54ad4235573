import { setImmediate as turn } from 'node:timers/promises'

/** How work in steps is watched. */
export interface SliceOptions<Step> {
  /** The work ends with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Hears the latest step at the end of a slice. */
  readonly told?: ((step: Step) => void) | undefined
}

/** Time that the work keeps its thread before others get their turn, ms. */
const sliceMs = 15

/** Runs work that is cut into steps. Rejects with what a step throws, and with the reason of the signal. */
export async function inSlices<Step, Result>(
  steps: Iterator<Step, Result, undefined>,
  { signal, told }: SliceOptions<Step> = {},
): Promise<Result> {
  let since = performance.now()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (performance.now() - since < sliceMs) continue
    told?.(step.value)
    await turn()
    signal?.throwIfAborted()
    since = performance.now()
  }
}
