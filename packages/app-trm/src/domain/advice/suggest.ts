import type { EvalResult } from '../evaluation/result.ts'
import type { Problem } from '../feedback/problem.ts'
import { formatCount } from '../format-count.ts'

const priorities = ['critical', 'high', 'medium', 'low'] as const

interface Place {
  readonly file?: string | undefined
  readonly line?: number | undefined
}

export interface SuggestRequest {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** Texts of the files that problems name, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Paths of files that have repairs. */
  readonly fixable: ReadonlySet<string>
}

const [maxSuggestions, maxLocations] = [5, 3]

/** A benchmark this many times slower than the best is a regression. */
const regressionFactor = 1.1

/** Returns the most urgent things to do after an evaluation. */
export function suggest({ result, problems, files, fixable }: SuggestRequest) {
  const { missing, missingCount, tests, failures, tamper, signals } = result
  const create = (
    priority: (typeof priorities)[number],
    category: 'tests' | 'build' | 'data-quality' | 'lint' | 'performance' | 'tampering' | 'signal',
    issue: string,
    { places = [], todo }: { readonly places?: readonly Place[]; readonly todo?: string | undefined } = {},
  ) => ({
    priority,
    category,
    issue,
    locations: places.flatMap((place) => locate(place, files)).slice(0, maxLocations),
    ...(todo === undefined ? {} : { suggestedFix: todo }),
    autoFixable: places.some(({ file }) => file !== undefined && fixable.has(file)),
  })
  const raised = problems.filter(({ source }) => source === 'python')
  const other = signals.filter(({ kind, ok }) => kind === 'check' && !ok)
  const perf = signals.find(({ kind }) => kind === 'perf')
  const percent = Math.round((1 / Math.max(perf?.value ?? 1, 1e-9) - 1) * 100)
  return [
    ...(missingCount === 0
      ? []
      : [
          create(
            'critical',
            'tests',
            `${formatCount(missingCount, 'test')} of the baseline did not run: ${missing.slice(0, 3).join(', ')}`,
          ),
        ]),
    ...raised.map((problem) =>
      create(preventsLoading(problem) ? 'critical' : 'high', 'tests', describe(problem), {
        places: [problem],
        todo: problem.advice,
      }),
    ),
    ...(raised.length > 0 || failures.length === 0
      ? []
      : [
          create(
            'high',
            'tests',
            `${formatCount(tests?.failed ?? failures.length, 'test')} failed; the first is ${failures[0]?.id}`,
            { places: failures },
          ),
        ]),
    ...tamper.map(({ path, why }) =>
      create('high', 'tampering', `the candidate changes ${path}, which ${why}`, {
        places: [{ file: path }],
      }),
    ),
    ...other.map(({ name, why }) =>
      create(
        'high',
        name === 'build' ? 'build' : name === 'dataQual' ? 'data-quality' : 'signal',
        `${name}: ${why}`,
      ),
    ),
    ...groupByKind(problems.filter(({ source }) => source === 'lint')).map((group) =>
      create(group.some(({ isError }) => isError) ? 'medium' : 'low', 'lint', describeGroup(group), {
        places: group,
      }),
    ),
    ...((perf?.value ?? 1) >= 1 / regressionFactor || result.perf === null
      ? []
      : [create('medium', 'performance', `the benchmark is ${percent} % behind its best`)]),
  ]
    .toSorted((a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority))
    .slice(0, maxSuggestions)
}

const preventsLoading = ({ kind }: Problem): boolean =>
  /^(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError)$/.test(kind)

const describe = ({ kind, message, count }: Problem): string =>
  `${kind}: ${message.split('\n')[0] ?? ''}${count > 1 ? ` (${count} times)` : ''}`

const describeGroup = ([first, ...others]: readonly Problem[]): string =>
  `${first?.kind} ${first?.message}${others.length > 0 ? `, and ${others.length} more of its kind` : ''}`

/** Groups lint problems by code, the most frequent first. */
function groupByKind(problems: readonly Problem[]): readonly (readonly Problem[])[] {
  const groups = new Map<string, Problem[]>()
  for (const problem of problems) groups.set(problem.kind, [...(groups.get(problem.kind) ?? []), problem])
  return [...groups.values()].toSorted((a, b) => b.length - a.length)
}

function locate({ file, line }: Place, files: ReadonlyMap<string, string>) {
  if (file === undefined) return []
  const snippet =
    line === undefined ? undefined : files.get(file)?.split(/\r?\n/)[line - 1]?.trim().slice(0, 160)
  return [{ file, ...(line === undefined ? {} : { line }), ...(snippet === undefined ? {} : { snippet }) }]
}
