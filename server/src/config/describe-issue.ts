import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** Returns what is required of a value, as the end of a sentence: `must be a number`. */
export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'too_big':
      return `must be at most ${issue.maximum}`
    case 'invalid_union':
      return describeUnion(issue.errors.flat())
    case 'invalid_value':
      return `must be ${issue.values.join(', ').replace(/, ([^,]*)$/, ' or $1')}`
    case 'invalid_format':
      return `must be a valid ${issue.format}`
    default:
      return `is invalid (${issue.message})`
  }
}

const typeNames: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
}

/** A message of the setting itself explains more than the types of the alternatives. */
function describeUnion(issues: readonly Issue[]): string {
  const own = issues.find(({ code }) => code === 'custom')
  if (own !== undefined) return describeIssue(own)
  if (issues.some((issue) => issue.code === 'invalid_type' && issue.expected === 'boolean'))
    return 'must be true or false'
  return issues[0] === undefined ? 'is invalid' : describeIssue(issues[0])
}
