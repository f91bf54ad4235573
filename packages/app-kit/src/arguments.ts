import { CausewayError, closest, isObject, shorten } from '@causeway/protocol'
import { safeParse, type z } from 'zod'

export interface Problem {
  /** A path such as `filter.kinds.0`. */
  readonly argument: string
  readonly problem: string
  readonly did_you_mean?: string
}

const maxProblems = 20

const maxPathLength = 200
const maxProblemLength = 1000

/** zod reports all problems, so longer arrays are validated item by item, up to 20 problems. */
const maxBatchItems = 100

/** Maximum length of an array. zod needs 0.1 to 0.3 µs per item. */
const maxItems = 500_000

/** Returns validated arguments. Throws an error with `code` and at most 20 `data.problems`. */
export function readArguments<T extends z.ZodObject>(
  owner: string,
  schema: T,
  args: unknown,
  code: 'INVALID_ARGUMENTS' | 'INVALID_PARAMS' = 'INVALID_ARGUMENTS',
): z.output<T> {
  const values = args ?? {}
  const expected = Object.keys(schema.shape)
  const reject = (problems: readonly Problem[], count: number): never => {
    const moreText = count > problems.length ? `, and ${count - problems.length} more` : ''
    throw new CausewayError(code, `${owner}: ${problems.map(describeProblem).join(', ')}${moreText}`, {
      data: { problems, problem_count: count, expected },
    })
  }
  const rejectIssues = (issues: readonly z.core.$ZodIssue[]): never => {
    const counts = issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.length : 1))
    const problemCount = counts.reduce((sum, count) => sum + count, 0)
    return reject(listProblems(issues, expected, args), problemCount)
  }
  const isStrict = schema._zod.def.catchall?._zod.def.type === 'never' && isObject(values)
  const unknownNames = isStrict ? Object.keys(values).filter((name) => !expected.includes(name)) : []
  if (unknownNames.length > maxProblems) {
    const problems = unknownNames
      .slice(0, maxProblems)
      .map((name) => createUnknownProblem([], name, expected))
    return reject(problems, unknownNames.length)
  }
  const invalidItems = findInvalidItems(schema, values, [])
  if (invalidItems.length > 0) return rejectIssues(invalidItems)
  const parsed = schema.safeParse(values)
  return parsed.success ? parsed.data : rejectIssues(parsed.error.issues)
}

function findInvalidItems(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly PropertyKey[],
): z.core.$ZodIssue[] {
  if (typeof value !== 'object' || value === null) return []
  const { def } = unwrap(schema, value)._zod as unknown as z.core.$ZodTypes['_zod']
  if (def.type === 'object' && isObject(value))
    return Object.entries(value).flatMap(([name, member]) => {
      const type = typeof member === 'object' && Object.hasOwn(def.shape, name) ? def.shape[name] : undefined
      return type === undefined ? [] : findInvalidItems(type, member, [...path, name])
    })
  if (def.type !== 'array' || !Array.isArray(value)) return []
  if (value.length > maxItems)
    return [{ code: 'custom', path: [...path], message: `has more than ${maxItems} items`, input: undefined }]
  const issues: z.core.$ZodIssue[] = []
  for (let index = 0; index < value.length && issues.length < maxProblems; index += 1) {
    const item: unknown = value[index]
    const nestedIssues = typeof item === 'object' ? findInvalidItems(def.element, item, [...path, index]) : []
    issues.push(...nestedIssues)
    if (nestedIssues.length > 0 || value.length <= maxBatchItems) continue
    const { success, error } = safeParse(def.element, item)
    if (!success)
      issues.push(...error.issues.map((issue) => ({ ...issue, path: [...path, index, ...issue.path] })))
  }
  return issues
}

/** Removes wrappers such as `optional`. If the value is an array, selects a union's array type. */
function unwrap(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  const { def } = schema._zod as unknown as z.core.$ZodTypes['_zod']
  if ('innerType' in def) return unwrap(def.innerType, value)
  if (def.type !== 'union' || !Array.isArray(value)) return schema
  const arrayTypes = def.options.filter((option) => option._zod.def.type === 'array')
  return arrayTypes.length === 1 && arrayTypes[0] !== undefined ? arrayTypes[0] : schema
}

/** Renames aliases: `names` maps them to declared names. Throws `INVALID_ARGUMENTS` if both names are given. */
export const renameArguments = (
  owner: string,
  args: unknown,
  names: Readonly<Record<string, string>>,
): unknown =>
  Object.entries(names).reduce(
    (renamedArgs, [from, to]) => renameArgument(owner, renamedArgs, from.split('.'), to.split('.')),
    args,
  )

function renameArgument(
  owner: string,
  args: unknown,
  [name = '', ...remainingPath]: readonly string[],
  [declaredName = name, ...remainingDeclaredPath]: readonly string[],
): unknown {
  if (!isObject(args) || !Object.hasOwn(args, name)) return args
  if (remainingPath.length > 0)
    return { ...args, [name]: renameArgument(owner, args[name], remainingPath, remainingDeclaredPath) }
  if (Object.hasOwn(args, declaredName)) {
    const problem = { argument: name, problem: `is another name of ${declaredName}, which is given too` }
    throw new CausewayError('INVALID_ARGUMENTS', `${owner}: ${describeProblem(problem)}`, {
      data: { problems: [problem] },
    })
  }
  const { [name]: value, ...otherArgs } = args
  return { ...otherArgs, [declaredName]: value }
}

/** Converts issues to problems. Suggests the most similar of `names` for an unknown argument. */
export function listProblems(
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
  args: unknown,
): Problem[] {
  const problems = issues.slice(0, maxProblems).flatMap((issue): Problem | Problem[] => {
    const argument = formatPath(issue.path) || 'arguments'
    if (issue.code === 'unrecognized_keys') {
      const knownNames = issue.path.length === 0 ? names : listNestedNames(issue)
      return issue.keys.slice(0, maxProblems).map((key) => createUnknownProblem(issue.path, key, knownNames))
    }
    if (issue.code === 'invalid_type' && getValue(args, issue.path) === undefined)
      return { argument, problem: `is missing (${issue.expected})` }
    const message = shorten(issue.message.replace(/^Invalid input: /, ''), maxProblemLength)
    return { argument, problem: message.charAt(0).toLowerCase() + message.slice(1) }
  })
  return problems.slice(0, maxProblems)
}

const formatPath = (path: readonly PropertyKey[]): string =>
  shorten(path.map(String).join('.'), maxPathLength)

function createUnknownProblem(path: readonly PropertyKey[], key: string, names: readonly string[]): Problem {
  const argument = formatPath([...path, key])
  const match = closest(key, names)
  if (match !== undefined) return { argument, problem: 'is unknown', did_you_mean: match }
  // Names of the outer object are in `data.expected`.
  const hint = path.length === 0 || names.length === 0 ? '' : `; there are ${names.join(', ')}`
  return { argument, problem: `is unknown${hint}` }
}

/** Returns a nested object's member names, which its check can add to the issue as `known`. */
const listNestedNames = (issue: object): readonly string[] =>
  'known' in issue && Array.isArray(issue.known) ? issue.known.map(String) : []

const describeProblem = ({ argument, problem, did_you_mean }: Problem): string =>
  `${argument} ${problem}${did_you_mean === undefined ? '' : ` (did you mean ${did_you_mean}?)`}`

function getValue(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value
  for (const key of path) current = (current as Record<PropertyKey, unknown> | null | undefined)?.[key]
  return current
}
