import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

const sliceMs = 15

/** Runs steps and yields to the event loop after each slice. `progress` receives the last step of a slice. */
export async function runInSlices<Step, Result>(
  steps: Iterator<Step, Result, undefined>,
  { signal, progress }: { readonly signal?: AbortSignal; readonly progress?: (step: Step) => void } = {},
): Promise<Result> {
  let startedAt = performance.now()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (performance.now() - startedAt < sliceMs) continue
    progress?.(step.value)
    await yieldToEventLoop()
    signal?.throwIfAborted()
    startedAt = performance.now()
  }
}
