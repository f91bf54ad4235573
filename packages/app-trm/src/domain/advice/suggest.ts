import type { EvalResult } from '../evaluation/result.ts'
import type { Problem } from '../feedback/problem.ts'
import { formatCount } from '../format.ts'

const priorities = ['critical', 'high', 'medium', 'low'] as const

interface Location {
  readonly file?: string | undefined
  readonly line?: number | undefined
}

export interface SuggestRequest {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** Contents of the files that problems name, by path. */
  readonly files: ReadonlyMap<string, string>
  readonly fixableFiles: ReadonlySet<string>
}

const [maxSuggestions, maxLocations] = [5, 3]

const regressionFactor = 1.1

interface Suggestion {
  readonly priority: (typeof priorities)[number]
  readonly category: string
  readonly issue: string
  readonly locations: readonly Location[]
  readonly suggestedFix?: string
  readonly autoFixable: boolean
}

export function suggest({ result, problems, files, fixableFiles }: SuggestRequest): readonly Suggestion[] {
  const { missing, missingCount, tests, failures, tamper, signals } = result
  const suggestions: Suggestion[] = []
  const add = (
    kind: readonly [Suggestion['priority'], Suggestion['category']],
    issue: string,
    problemLocations: readonly Location[] = [],
    suggestedFix?: string,
  ): void => {
    const [priority, category] = kind
    const locations = problemLocations.flatMap((location) => locate(location, files)).slice(0, maxLocations)
    const autoFixable = problemLocations.some(({ file }) => file !== undefined && fixableFiles.has(file))
    const fix = suggestedFix === undefined ? {} : { suggestedFix }
    suggestions.push({ priority, category, issue, locations, ...fix, autoFixable })
  }
  if (missingCount > 0) {
    const names = missing.slice(0, 3).join(', ')
    add(['critical', 'tests'], `${formatCount(missingCount, 'test')} of the baseline did not run: ${names}`)
  }
  const pythonErrors = problems.filter(({ source }) => source === 'python')
  for (const problem of pythonErrors) {
    const priority = preventsLoading.test(problem.kind) ? 'critical' : 'high'
    add([priority, 'tests'], describeProblem(problem), [problem], problem.advice)
  }
  if (pythonErrors.length === 0 && failures.length > 0) {
    const count = formatCount(tests?.failed ?? failures.length, 'test')
    add(['high', 'tests'], `${count} failed; the first is ${failures[0]?.id}`, failures)
  }
  for (const { path, why } of tamper)
    add(['high', 'tampering'], `the candidate changes ${path}, which ${why}`, [{ file: path }])
  for (const { name, why } of signals.filter(({ kind, ok }) => kind === 'check' && !ok))
    add(
      ['high', name === 'dataQual' ? 'data-quality' : name === 'build' ? name : 'signal'],
      `${name}: ${why}`,
    )
  for (const group of groupByKind(problems.filter(({ source }) => source === 'lint')))
    add([group.some(({ isError }) => isError) ? 'medium' : 'low', 'lint'], describeGroup(group), group)
  const perfValue = signals.find(({ kind }) => kind === 'perf')?.value ?? 1
  if (perfValue < 1 / regressionFactor && result.perf !== null) {
    const percent = Math.round((1 / Math.max(perfValue, 1e-9) - 1) * 100)
    add(['medium', 'performance'], `the benchmark is ${percent} % behind its best`)
  }
  return suggestions
    .toSorted((a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority))
    .slice(0, maxSuggestions)
}

const preventsLoading = /^(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError)$/

const describeProblem = ({ kind, message, count }: Problem): string =>
  `${kind}: ${message.split('\n')[0] ?? ''}${count > 1 ? ` (${count} times)` : ''}`

const describeGroup = ([first, ...others]: readonly Problem[]): string =>
  `${first?.kind} ${first?.message}${others.length > 0 ? `, and ${others.length} more of its kind` : ''}`

function groupByKind(problems: readonly Problem[]): readonly (readonly Problem[])[] {
  const groups = new Map<string, Problem[]>()
  for (const problem of problems) groups.set(problem.kind, [...(groups.get(problem.kind) ?? []), problem])
  return [...groups.values()].toSorted((a, b) => b.length - a.length)
}

function locate({ file, line }: Location, files: ReadonlyMap<string, string>) {
  if (file === undefined) return []
  const snippet =
    line === undefined ? undefined : files.get(file)?.split(/\r?\n/)[line - 1]?.trim().slice(0, 160)
  return [{ file, ...(line === undefined ? {} : { line }), ...(snippet === undefined ? {} : { snippet }) }]
}
