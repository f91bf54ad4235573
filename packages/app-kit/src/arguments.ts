/** Reading a caller's arguments, with a message that says what is missing, unknown and expected. */
import { CausewayError, type ErrorCode, isObject, shorten } from '@causeway/protocol'
import { safeParse, type z } from 'zod'
import { closest } from './closest.ts'

/** One thing that is wrong with the arguments. */
export interface Problem {
  /** Dotted path of the argument, `frame_id` or `filter.kinds.0`. */
  readonly argument: string
  /** What is wrong, in words. */
  readonly problem: string
  readonly did_you_mean?: string
}

/** Problems that one error lists. `data.problem_count` counts all that were found; long lists are not checked to their end. */
const maxProblems = 20

/** Characters of an argument's path, and of what is wrong with it, that an error repeats. */
const maxPathLength = 200
const maxTextLength = 1000

/** Arrays longer than this are checked item by item first: zod makes an issue for every wrong item. */
const longArray = 100

/** Items of an array that zod validates. Validating each of them takes 0.1 to 0.3 µs. */
const maxItems = 500_000

/** Returns the parsed arguments; throws `code` (by default `INVALID_ARGUMENTS`) with `data.problems`. */
export function readArguments<T extends z.ZodObject>(
  owner: string,
  schema: T,
  args: unknown,
  code: ErrorCode = 'INVALID_ARGUMENTS',
): z.output<T> {
  const given = args ?? {}
  const names = Object.keys(schema.shape)
  const reject = (found: FoundProblems): never => {
    throw new CausewayError(code, `${owner}: ${problemText(found)}`, { data: { ...found, expected: names } })
  }
  const unknown = schema._zod.def.catchall?._zod.def.type === 'never' ? unknownNames(given, names) : []
  if (unknown.length > maxProblems)
    return reject({
      problems: unknown.slice(0, maxProblems).map((name) => unknownArgument([], name, names)),
      problem_count: unknown.length,
    })
  const wrongItems = findWrongItems(schema, given, [])
  if (wrongItems.length > 0) return reject(foundProblems(wrongItems, names, args))
  const parsed = schema.safeParse(given)
  return parsed.success ? parsed.data : reject(foundProblems(parsed.error.issues, names, args))
}

/** The first problems of some arguments, and how many there are. */
interface FoundProblems {
  readonly problems: readonly Problem[]
  readonly problem_count: number
}

const unknownNames = (args: unknown, names: readonly string[]): string[] =>
  isObject(args) ? Object.keys(args).filter((name) => !names.includes(name)) : []

function foundProblems(
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
  args: unknown,
): FoundProblems {
  const count = issues.reduce(
    (sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1),
    0,
  )
  return { problems: problemsOf(issues, names, args), problem_count: count }
}

const problemText = ({ problems, problem_count: count }: FoundProblems): string => {
  const rest = count - problems.length
  return `${problems.map(sentence).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`
}

/**
 * Returns the issues of the first wrong items of long arrays, so that an array with a million wrong items is rejected as
 * fast as one with twenty.
 */
function findWrongItems(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly PropertyKey[],
): z.core.$ZodIssue[] {
  if (typeof value !== 'object' || value === null) return []
  const { def } = innerType(schema, value)._zod as unknown as z.core.$ZodTypes['_zod']
  if (def.type === 'object' && isObject(value))
    return Object.entries(value).flatMap(([name, member]) => {
      const type = typeof member === 'object' && Object.hasOwn(def.shape, name) ? def.shape[name] : undefined
      return type === undefined ? [] : findWrongItems(type, member, [...path, name])
    })
  if (def.type !== 'array' || !Array.isArray(value)) return []
  if (value.length > maxItems)
    return [{ code: 'custom', path: [...path], message: `has more than ${maxItems} items`, input: undefined }]
  const issues: z.core.$ZodIssue[] = []
  for (let at = 0; at < value.length && issues.length < maxProblems; at += 1) {
    const item: unknown = value[at]
    const inside = typeof item === 'object' ? findWrongItems(def.element, item, [...path, at]) : []
    issues.push(...inside)
    if (inside.length > 0 || value.length <= longArray) continue
    const { success, error } = safeParse(def.element, item)
    if (!success)
      issues.push(...error.issues.map((issue) => ({ ...issue, path: [...path, at, ...issue.path] })))
  }
  return issues
}

/** Returns the schema below `optional`, `default` and the like; of a union, the only one for arrays if it is given one. */
function innerType(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  const { def } = schema._zod as unknown as z.core.$ZodTypes['_zod']
  if ('innerType' in def) return innerType(def.innerType, value)
  if (def.type !== 'union' || !Array.isArray(value)) return schema
  const arrays = def.options.filter((option) => option._zod.def.type === 'array')
  return arrays.length === 1 && arrays[0] !== undefined ? arrays[0] : schema
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

/** Returns the first `maxProblems` issues of zod in our words; unknown names come with the known name that they resemble. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
  args: unknown,
): Problem[] {
  const problems = issues.slice(0, maxProblems).flatMap((issue): Problem[] => {
    const argument = pathText(issue.path) || 'arguments'
    if (issue.code === 'unrecognized_keys')
      return issue.keys
        .slice(0, maxProblems)
        .map((key) => unknownArgument(issue.path, key, issue.path.length === 0 ? names : knownIn(issue)))
    if (issue.code === 'invalid_type' && valueAt(args, issue.path) === undefined)
      return [{ argument, problem: `is missing (${issue.expected})` }]
    return [
      {
        argument,
        problem: lowerFirst(shorten(issue.message.replace(/^Invalid input: /, ''), maxTextLength)),
      },
    ]
  })
  return problems.slice(0, maxProblems)
}

const pathText = (path: readonly PropertyKey[]): string => shorten(path.map(String).join('.'), maxPathLength)

function unknownArgument(path: readonly PropertyKey[], key: string, names: readonly string[]): Problem {
  const argument = pathText([...path, key])
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
