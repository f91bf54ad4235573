/** The result of work in steps, done at once. */
export function finished<Result>(steps: Iterator<unknown, Result, undefined>): Result {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
