import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

const sliceMs = 15

/** Runs steps. After each slice, passes the last step to `progress`, yields to the event loop and checks `signal`. */
export async function runInSlices<Step, Result>(
  steps: Iterator<Step, Result, undefined>,
  options: { readonly signal?: AbortSignal; progress?(step: Step): void } = {},
): Promise<Result> {
  let startedAt = performance.now()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (performance.now() - startedAt < sliceMs) continue
    options.progress?.(step.value)
    await yieldToEventLoop()
    options.signal?.throwIfAborted()
    startedAt = performance.now()
  }
}
