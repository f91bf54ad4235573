/** What to do next, by the signals of the last evaluation and by the code that the session works on. */

import { counted } from '../counted.ts'
import { linesText } from '../coverage.ts'
import type { Problem } from '../feedback/problem.ts'
import type { EvalResult } from '../result.ts'
import { codeFindings } from './code-finding.ts'
import type { Category } from './finding.ts'

/** A place to look at. */
export interface Location {
  readonly file: string
  /** From 1. */
  readonly line?: number | undefined
  readonly snippet?: string | undefined
}

/** One thing to do. */
export interface Suggestion {
  readonly priority: 'critical' | 'high' | 'medium' | 'low'
  /** `tests`, `build`, `data-quality`, `lint`, `performance`, `coverage`, `tampering`, or a concern of the code. */
  readonly category:
    | Category
    | 'tests'
    | 'build'
    | 'data-quality'
    | 'lint'
    | 'performance'
    | 'coverage'
    | 'tampering'
    | 'signal'
  readonly issue: string
  readonly locations?: readonly Location[] | undefined
  readonly suggestedFix?: string | undefined
  /** True where `trm.fix` offers a repair. */
  readonly autoFixable: boolean
}

/** What suggestions are made from. */
export interface SuggestRequest {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** Texts of the files that the session changed or that a problem names. */
  readonly files: ReadonlyMap<string, string>
  /** Files for which there are repairs. */
  readonly fixable: ReadonlySet<string>
}

/** Most suggestions, and most locations of one. */
const most = 5
const mostLocations = 3
/** A benchmark that takes this much longer than the best is a regression. */
const regression = 1.1

const order = ['critical', 'high', 'medium', 'low'] as const

/** The most urgent suggestions, at most five. */
export function suggestions(request: SuggestRequest): readonly Suggestion[] {
  return [
    ...ofTests(request),
    ...ofTampering(request),
    ...ofSignals(request),
    ...ofComplaints(request),
    ...ofPerf(request),
    ...ofCoverage(request),
    ...ofCode(request),
  ]
    .toSorted((a, b) => order.indexOf(a.priority) - order.indexOf(b.priority))
    .slice(0, most)
}

/** Failing tests with one cause are one suggestion: the innermost own place tells them apart. */
function ofTests({ result, problems, files, fixable }: SuggestRequest): Suggestion[] {
  const raised = problems.filter(({ source }) => source === 'python')
  const grouped = raised.map((problem): Suggestion => {
    const isLoading = /^(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError)$/.test(
      problem.kind,
    )
    return {
      priority: isLoading ? 'critical' : 'high',
      category: 'tests',
      issue: `${problem.kind}: ${problem.message.split('\n')[0] ?? ''}${problem.count > 1 ? ` (${problem.count} times)` : ''}`,
      locations: placesOf([problem], files),
      suggestedFix: problem.advice,
      autoFixable: problem.file !== undefined && fixable.has(problem.file),
    }
  })
  const [first] = result.failures
  const other: Suggestion[] =
    grouped.length > 0 || first === undefined
      ? []
      : [
          {
            priority: 'high',
            category: 'tests',
            issue: `${result.tests?.failed ?? result.failures.length} tests fail, the first is ${first.id}`,
            locations: result.failures
              .flatMap(({ file, line }) => (file === undefined ? [] : [locationOf(file, line, files)]))
              .slice(0, mostLocations),
            autoFixable: false,
          },
        ]
  const missing: Suggestion[] =
    result.missingCount === 0
      ? []
      : [
          {
            priority: 'critical',
            category: 'tests',
            issue: `${counted(result.missingCount, 'test')} of the baseline did not run: ${result.missing.slice(0, 3).join(', ')}`,
            suggestedFix: 'repair what keeps them from being loaded, or bring them back',
            autoFixable: false,
          },
        ]
  return [...missing, ...grouped, ...other]
}

const ofTampering = ({ result }: SuggestRequest): Suggestion[] =>
  result.tamper.map(({ path, why }) => ({
    priority: 'high',
    category: 'tampering',
    issue: `the candidate changes ${path}, which ${why}`,
    locations: [{ file: path }],
    suggestedFix: 'change the code and not what judges it',
    autoFixable: false,
  }))

const named: Readonly<Record<string, Suggestion['category']>> = { build: 'build', dataQual: 'data-quality' }

function ofSignals({ result }: SuggestRequest): Suggestion[] {
  return result.signals
    .filter(({ ok, name }) => !ok && name !== 'test' && name !== 'lint' && name !== 'perf')
    .map(({ name, why }) => ({
      priority: 'high',
      category: named[name] ?? 'signal',
      issue: `${name}: ${why}`,
      autoFixable: false,
    }))
}

/** Complaints of linters by their code, the most frequent first. */
function ofComplaints({ problems, files, fixable }: SuggestRequest): Suggestion[] {
  const byCode = new Map<string, Problem[]>()
  for (const problem of problems.filter(({ source }) => source === 'lint')) {
    byCode.set(problem.kind, [...(byCode.get(problem.kind) ?? []), problem])
  }
  return [...byCode.values()]
    .toSorted((a, b) => b.length - a.length)
    .map((group) => {
      const [first] = group
      return {
        priority: group.some(({ isError }) => isError) ? 'medium' : 'low',
        category: 'lint',
        issue: `${first?.kind} ${first?.message}${group.length > 1 ? `, and ${group.length - 1} more of its kind` : ''}`,
        locations: placesOf(group, files),
        suggestedFix: first?.advice,
        autoFixable: group.some(({ file }) => file !== undefined && fixable.has(file)),
      }
    })
}

function ofPerf({ result: { perf, signals } }: SuggestRequest): Suggestion[] {
  if (perf === null || perf.best === null) return []
  const value = signals.find(({ name }) => name === 'perf')?.value ?? 1
  if (value >= 1 / regression) return []
  const share = Math.round((1 / Math.max(value, 1e-9) - 1) * 100)
  return [
    {
      priority: 'medium',
      category: 'performance',
      issue: `the benchmark is ${share} % behind its best: ${perf.value}${perf.unit} against ${perf.best}${perf.unit}`,
      suggestedFix: 'compare the changes since the best step',
      autoFixable: false,
    },
  ]
}

/** Lines that the session has changed files around, and that no test runs. */
const ofCoverage = ({ result: { coverage }, files }: SuggestRequest): Suggestion[] =>
  Object.entries(coverage?.uncovered ?? {}).map(([file, lines]) => ({
    priority: 'medium',
    category: 'coverage',
    issue: `no test runs lines ${linesText(lines)} of ${file}`,
    locations: [locationOf(file, lines[0], files)],
    suggestedFix: 'add a test that runs them, or remove what nothing uses',
    autoFixable: false,
  }))

/** What the code itself shows: one suggestion for each concern. */
function ofCode({ files }: SuggestRequest): Suggestion[] {
  const byCategory = new Map<
    Category,
    { file: string; line: number; issue: string; suggestedFix: string }[]
  >()
  for (const [file, text] of files) {
    for (const { category, ...finding } of codeFindings(file, text)) {
      byCategory.set(category, [...(byCategory.get(category) ?? []), { file, ...finding }])
    }
  }
  return [...byCategory].map(([category, found]) => ({
    priority: category === 'error-handling' || category === 'data-validation' ? 'medium' : 'low',
    category,
    issue: `${found[0]?.issue}${found.length > 1 ? `, and ${found.length - 1} more of its kind` : ''}`,
    locations: found.slice(0, mostLocations).map(({ file, line }) => locationOf(file, line, files)),
    suggestedFix: found[0]?.suggestedFix,
    autoFixable: false,
  }))
}

const placesOf = (problems: readonly Problem[], files: ReadonlyMap<string, string>): readonly Location[] =>
  problems
    .flatMap(({ file, line }) => (file === undefined ? [] : [locationOf(file, line, files)]))
    .slice(0, mostLocations)

function locationOf(file: string, line: number | undefined, files: ReadonlyMap<string, string>): Location {
  const snippet =
    line === undefined ? undefined : files.get(file)?.split(/\r?\n/)[line - 1]?.trim().slice(0, 160)
  return { file, ...(line === undefined ? {} : { line }), ...(snippet === undefined ? {} : { snippet }) }
}
