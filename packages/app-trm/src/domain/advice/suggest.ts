import type { EvalResult } from '../evaluation/result.ts'
import type { Problem } from '../feedback/problem.ts'
import { formatCount } from '../format-count.ts'

interface Location {
  readonly file: string
  /** From 1. */
  readonly line?: number | undefined
  readonly snippet?: string | undefined
}

export interface Suggestion {
  readonly priority: 'critical' | 'high' | 'medium' | 'low'
  readonly category: 'tests' | 'build' | 'data-quality' | 'lint' | 'performance' | 'tampering' | 'signal'
  readonly issue: string
  readonly locations?: readonly Location[] | undefined
  readonly suggestedFix?: string | undefined
  /** Whether `trm.fix` has a repair for the file. */
  readonly autoFixable: boolean
}

export interface SuggestRequest {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** Texts of the files that the session changed or that a problem names, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Paths of files that have repairs. */
  readonly fixable: ReadonlySet<string>
}

const maxSuggestions = 5
const maxLocations = 3
/** A benchmark this many times slower than the best is a regression. */
const regressionFactor = 1.1

const order = ['critical', 'high', 'medium', 'low'] as const

/** Returns the most urgent suggestions. */
export function suggest(request: SuggestRequest): readonly Suggestion[] {
  return [
    ...suggestForTests(request),
    ...suggestForTampering(request),
    ...suggestForSignals(request),
    ...suggestForLint(request),
    ...suggestForPerf(request),
  ]
    .toSorted((a, b) => order.indexOf(a.priority) - order.indexOf(b.priority))
    .slice(0, maxSuggestions)
}

function suggestForTests({ result, problems, files, fixable }: SuggestRequest): Suggestion[] {
  const suggestions: Suggestion[] = []
  if (result.missingCount > 0)
    suggestions.push({
      priority: 'critical',
      category: 'tests',
      issue: `${formatCount(result.missingCount, 'test')} of the baseline did not run: ${result.missing.slice(0, 3).join(', ')}`,
      suggestedFix: 'repair the files that cannot be loaded, or restore the tests',
      autoFixable: false,
    })
  const raised = problems.filter(({ source }) => source === 'python')
  for (const problem of raised) {
    const { kind, message, count, advice, file } = problem
    const isLoading = /^(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError)$/.test(kind)
    suggestions.push({
      priority: isLoading ? 'critical' : 'high',
      category: 'tests',
      issue: `${kind}: ${message.split('\n')[0] ?? ''}${count > 1 ? ` (${count} times)` : ''}`,
      locations: toLocations([problem], files),
      suggestedFix: advice,
      autoFixable: file !== undefined && fixable.has(file),
    })
  }
  const [first] = result.failures
  if (raised.length === 0 && first !== undefined)
    suggestions.push({
      priority: 'high',
      category: 'tests',
      issue: `${formatCount(result.tests?.failed ?? result.failures.length, 'test')} failed; the first is ${first.id}`,
      locations: toLocations(result.failures, files),
      autoFixable: false,
    })
  return suggestions
}

const suggestForTampering = ({ result }: SuggestRequest): Suggestion[] =>
  result.tamper.map(({ path, why }) => ({
    priority: 'high',
    category: 'tampering',
    issue: `the candidate changes ${path}, which ${why}`,
    locations: [{ file: path }],
    suggestedFix: 'change the code instead of the tests and their configuration',
    autoFixable: false,
  }))

const signalCategories: Readonly<Record<string, Suggestion['category']>> = {
  build: 'build',
  dataQual: 'data-quality',
}

const suggestForSignals = ({ result }: SuggestRequest): Suggestion[] =>
  result.signals
    .filter(({ ok, name }) => !ok && name !== 'test' && name !== 'lint' && name !== 'perf')
    .map(({ name, why }) => ({
      priority: 'high',
      category: signalCategories[name] ?? 'signal',
      issue: `${name}: ${why}`,
      autoFixable: false,
    }))

/** Groups lint problems by code, the most frequent first. */
function suggestForLint({ problems, files, fixable }: SuggestRequest): Suggestion[] {
  const byCode = new Map<string, Problem[]>()
  for (const problem of problems.filter(({ source }) => source === 'lint'))
    byCode.set(problem.kind, [...(byCode.get(problem.kind) ?? []), problem])
  return [...byCode.values()]
    .toSorted((a, b) => b.length - a.length)
    .map((group) => {
      const [first] = group
      return {
        priority: group.some(({ isError }) => isError) ? 'medium' : 'low',
        category: 'lint',
        issue: `${first?.kind} ${first?.message}${group.length > 1 ? `, and ${group.length - 1} more of its kind` : ''}`,
        locations: toLocations(group, files),
        suggestedFix: first?.advice,
        autoFixable: group.some(({ file }) => file !== undefined && fixable.has(file)),
      }
    })
}

function suggestForPerf({ result: { perf, signals } }: SuggestRequest): Suggestion[] {
  if (perf === null || perf.best === null) return []
  const value = signals.find(({ name }) => name === 'perf')?.value ?? 1
  if (value >= 1 / regressionFactor) return []
  const percent = Math.round((1 / Math.max(value, 1e-9) - 1) * 100)
  return [
    {
      priority: 'medium',
      category: 'performance',
      issue: `the benchmark is ${percent} % behind its best: ${perf.value}${perf.unit} instead of ${perf.best}${perf.unit}`,
      suggestedFix: 'compare the changes since the best step',
      autoFixable: false,
    },
  ]
}

const toLocations = (
  places: readonly Partial<Record<'file', string | undefined> & Record<'line', number | undefined>>[],
  files: ReadonlyMap<string, string>,
): readonly Location[] =>
  places
    .flatMap(({ file, line }): Location[] => {
      if (file === undefined) return []
      if (line === undefined) return [{ file }]
      const snippet = files.get(file)?.split(/\r?\n/)[line - 1]?.trim().slice(0, 160)
      return [{ file, line, ...(snippet === undefined ? {} : { snippet }) }]
    })
    .slice(0, maxLocations)
