import type { EvalResult } from '../evaluation/result.ts'
import type { Problem } from '../feedback/problem.ts'
import { formatCount } from '../format.ts'

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
  readonly fixable: ReadonlySet<string>
}

const [maxSuggestions, maxLocations] = [5, 3]

const regressionFactor = 1.1

interface Suggestion {
  readonly priority: (typeof priorities)[number]
  readonly category: string
  readonly issue: string
  readonly locations: readonly Place[]
  readonly suggestedFix?: string
  readonly autoFixable: boolean
}

export function suggest({ result, problems, files, fixable }: SuggestRequest): readonly Suggestion[] {
  const { missing, missingCount, tests, failures, tamper, signals } = result
  const found: Suggestion[] = []
  const add = (
    kind: readonly [Suggestion['priority'], Suggestion['category']],
    issue: string,
    places: readonly Place[] = [],
    todo?: string,
  ): void => {
    const [priority, category] = kind
    const locations = places.flatMap((place) => locate(place, files)).slice(0, maxLocations)
    const autoFixable = places.some(({ file }) => file !== undefined && fixable.has(file))
    const suggested = todo === undefined ? {} : { suggestedFix: todo }
    found.push({ priority, category, issue, locations, ...suggested, autoFixable })
  }
  if (missingCount > 0) {
    const names = missing.slice(0, 3).join(', ')
    add(['critical', 'tests'], `${formatCount(missingCount, 'test')} of the baseline did not run: ${names}`)
  }
  const raised = problems.filter(({ source }) => source === 'python')
  for (const problem of raised) {
    const priority = preventsLoading.test(problem.kind) ? 'critical' : 'high'
    add([priority, 'tests'], describe(problem), [problem], problem.advice)
  }
  if (raised.length === 0 && failures.length > 0) {
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
  const perf = signals.find(({ kind }) => kind === 'perf')?.value ?? 1
  if (perf < 1 / regressionFactor && result.perf !== null) {
    const percent = Math.round((1 / Math.max(perf, 1e-9) - 1) * 100)
    add(['medium', 'performance'], `the benchmark is ${percent} % behind its best`)
  }
  return found
    .toSorted((a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority))
    .slice(0, maxSuggestions)
}

const preventsLoading = /^(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError)$/

const describe = ({ kind, message, count }: Problem): string =>
  `${kind}: ${message.split('\n')[0] ?? ''}${count > 1 ? ` (${count} times)` : ''}`

const describeGroup = ([first, ...others]: readonly Problem[]): string =>
  `${first?.kind} ${first?.message}${others.length > 0 ? `, and ${others.length} more of its kind` : ''}`

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
