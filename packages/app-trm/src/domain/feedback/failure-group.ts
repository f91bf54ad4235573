/** Failures that have one cause are told once, with where it was raised and what to do. */
import type { Failure } from '../result.ts'
import { pythonAdvice } from './advice.ts'
import { ownFrame } from './problem.ts'
import { pythonErrors } from './python-error.ts'

/** Failures with one cause. */
export interface FailureGroup {
  /** The one that is told whole. */
  readonly first: Failure
  /** Ids of the others. */
  readonly others: readonly string[]
  /** `sums.py:12` where the cause is in the project and not where the test itself stands. */
  readonly raisedAt: string | undefined
  readonly advice: string | undefined
}

/** Groups failures, in their order. */
export function failureGroups(failures: readonly Failure[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const failure of failures) {
    const { key, raisedAt, advice } = causeOf(failure)
    const known = groups.get(key)
    if (known) groups.set(key, { ...known, others: [...known.others, failure.id] })
    else groups.set(key, { first: failure, others: [], raisedAt, advice })
  }
  return [...groups.values()]
}

function causeOf({ id, file, line, message }: Failure) {
  const error = pythonErrors(message).at(-1)
  const frame = error && ownFrame(error.frames)
  const place = frame && `${frame.file}:${frame.line}`
  // What two tests assert is not one cause, even where it reads the same.
  const isShared = error !== undefined && !error.type.endsWith('AssertionError')
  return {
    key: isShared ? JSON.stringify([error.type, error.message, place]) : id,
    raisedAt: place === `${file}:${line}` ? undefined : place,
    advice: error && pythonAdvice(error, { hasModule: () => undefined }),
  }
}

/** A group in the words of an answer: what failed, what to do, and what was said. */
export function groupText({ first, others, raisedAt, advice }: FailureGroup): string {
  const { id, status, file, line, message } = first
  const place = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`
  const more = others.length === 0 ? [] : [`the same error in ${named(others)}`]
  return [
    `${status === 'error' ? 'error' : 'failed'}: ${id}${place}`,
    ...more,
    ...(raisedAt === undefined ? [] : [`raised at ${raisedAt}`]),
    ...(advice === undefined ? [] : [`to do: ${advice}`]),
    message,
  ].join('\n')
}

const named = (ids: readonly string[]): string =>
  ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`
