/** Reading a caller's arguments, with a message that says what is missing, unknown and expected. */
import { CausewayError, type ErrorCode, isObject } from '@causeway/protocol'
import type { z } from 'zod'
import { closest } from './closest.ts'

/** One thing that is wrong with the arguments. */
export interface Problem {
  /** Dotted path of the argument, `frame_id` or `filter.kinds.0`. */
  readonly argument: string
  /** What is wrong, in words. */
  readonly problem: string
  readonly did_you_mean?: string
}

/** The parsed arguments; throws `code` (by default `INVALID_ARGUMENTS`) with `data.problems`. */
export function readArguments<T extends z.ZodObject>(
  owner: string,
  schema: T,
  args: unknown,
  code: ErrorCode = 'INVALID_ARGUMENTS',
): z.output<T> {
  const parsed = schema.safeParse(args ?? {})
  if (parsed.success) return parsed.data
  const problems = problemsOf(parsed.error.issues, Object.keys(schema.shape), args)
  const message = `${owner}: ${problems.map(sentence).join(', ')}`
  throw new CausewayError(code, message, { data: { problems, expected: Object.keys(schema.shape) } })
}

/**
 * The arguments under the names of the declaration. `names` maps other names, dotted for members of objects, to these;
 * one that is given under both is refused with `INVALID_ARGUMENTS`.
 */
export function renamed(owner: string, args: unknown, names: Readonly<Record<string, string>>): unknown {
  return Object.entries(names).reduce(
    (given, [from, to]) => moved(owner, given, from.split('.'), to.split('.')),
    args,
  )
}

/** Both paths lead through the same objects and differ in their last name. */
function moved(owner: string, args: unknown, from: readonly string[], to: readonly string[]): unknown {
  const [name = '', ...rest] = from
  if (!isObject(args) || !Object.hasOwn(args, name)) return args
  if (rest.length > 0) return { ...args, [name]: moved(owner, args[name], rest, to.slice(1)) }
  const known = to[0] ?? name
  if (Object.hasOwn(args, known)) {
    const problems: Problem[] = [
      { argument: name, problem: `is another name of ${known}, which is given too` },
    ]
    throw new CausewayError('INVALID_ARGUMENTS', `${owner}: ${problems.map(sentence).join(', ')}`, {
      data: { problems },
    })
  }
  const { [name]: value, ...others } = args
  return { ...others, [known]: value }
}

/** What zod found wrong, in our words; unknown names come with the known name that they resemble. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
  args: unknown,
): Problem[] {
  return issues.flatMap((issue) => {
    const argument = issue.path.join('.') || 'arguments'
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) =>
        unknownArgument(issue.path, key, issue.path.length === 0 ? names : knownIn(issue)),
      )
    if (issue.code === 'invalid_type' && valueAt(args, issue.path) === undefined)
      return [{ argument, problem: `is missing (${issue.expected})` }]
    return [{ argument, problem: lowerFirst(issue.message.replace(/^Invalid input: /, '')) }]
  })
}

function unknownArgument(path: readonly PropertyKey[], key: string, names: readonly string[]): Problem {
  const argument = [...path, key].join('.')
  const match = closest(key, names)
  if (match !== undefined) return { argument, problem: 'is unknown', did_you_mean: match }
  // Names of the outermost object stand in the list of the tool.
  const others = path.length === 0 || names.length === 0 ? '' : `; there are ${names.join(', ')}`
  return { argument, problem: `is unknown${others}` }
}

/** The names that a check of a nested object has added to its issue as `known`; none for an issue of zod's own. */
const knownIn = (issue: object): readonly string[] =>
  'known' in issue && Array.isArray(issue.known) ? issue.known.map(String) : []

const sentence = ({ argument, problem, did_you_mean }: Problem): string =>
  `${argument} ${problem}${did_you_mean === undefined ? '' : ` (did you mean ${did_you_mean}?)`}`

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const key of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[key]
  return at
}
