import { findFixes } from '../domain/advice/fix.ts'
import { compareFiles, type ReviewedFile, readChangedFiles, review } from '../domain/advice/review.ts'
import { suggest } from '../domain/advice/suggest.ts'
import { applyCandidate, listSources } from '../domain/candidate/apply.ts'
import { formatDiff } from '../domain/candidate/line-diff.ts'
import { readCandidate } from '../domain/candidate/read-candidate.ts'
import type { Candidate, OriginalFiles } from '../domain/candidate/types.ts'
import { findCopiedValues, readTestedValues } from '../domain/evaluation/copied-values.ts'
import { readDiagnostics } from '../domain/evaluation/diagnostic.ts'
import { readMetric } from '../domain/evaluation/metric.ts'
import { createProbe, type Probe } from '../domain/evaluation/probe.ts'
import { findSuspicions, type Suspicion } from '../domain/evaluation/suspicion.ts'
import { findExpectedData, findHelpers, findProtectedPaths, isSource } from '../domain/evaluation/tamper.ts'
import { findProblems } from '../domain/feedback/problem.ts'
import { createPreview } from '../domain/preview.ts'
import { readTests } from '../domain/report/read-tests.ts'
import type { TestRun } from '../domain/report/test-run.ts'

/** Pure functions, which a worker runs if the input is large. */
export const engineMethods = {
  read(input: unknown) {
    const candidate = readCandidate(input)
    return { candidate, ...listSources(candidate) }
  },
  apply: ({ files, candidate }: { readonly files: OriginalFiles; readonly candidate: Candidate }) =>
    applyCandidate(files, candidate),
  preview: createPreview,
  findProtected: findProtectedPaths,
  findSuspicions({ files, tests }: SuspicionRequest): readonly Suspicion[] {
    const testedValues = readTestedValues(tests)
    return files.flatMap(({ path, before, after }) => {
      const line = findCopiedValues(testedValues, before, after, !isSource(path) && !path.endsWith('.json'))
      const suspicions = findSuspicions(path, before, after)
      if (line === undefined) return suspicions
      return [...suspicions, { kind: 'doubt', path, line, why: 'contains inputs and results of tests' }]
    })
  },
  findHelpers: ({ texts, originals, changedPaths, checks }: HelperRequest): readonly string[] => [
    ...findHelpers(texts, originals, checks),
    ...findExpectedData(changedPaths, new Map([...texts, ...originals])),
  ],
  /** `ids` make the names of added tests unique in each file. */
  createProbes: ({ texts, tests, ids }: ProbeRequest): readonly Probe[] =>
    [...texts].flatMap(([path, text], index) => createProbe(path, text, tests, ids[index] ?? '') ?? []),
  formatDiff,
  tests: readTests,
  metric: (outputs: readonly string[]) => outputs.map(readMetric).find((metric) => metric !== undefined),
  diagnostics: readDiagnostics,
  /** `modules` are the top-level modules of the project. */
  problems: ({ outputs, modules }: { readonly outputs: readonly string[]; modules: ReadonlySet<string> }) =>
    findProblems(outputs, outputs.flatMap(readDiagnostics), (name) => modules.has(name)),
  fix: findFixes,
  suggest,
  review: ({ diff, files = [], focus }: ReviewRequest) =>
    review([...(diff === undefined ? [] : readChangedFiles(diff)), ...compareFiles(files)], focus),
}

export type EngineMethods = typeof engineMethods

interface SuspicionRequest {
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[]
  readonly tests: readonly string[]
}

interface HelperRequest {
  readonly texts: ReadonlyMap<string, string>
  readonly originals: ReadonlyMap<string, string>
  readonly changedPaths: readonly string[]
  readonly checks: ReadonlySet<string>
}

interface ProbeRequest {
  readonly texts: ReadonlyMap<string, string>
  readonly tests: TestRun
  readonly ids: readonly string[]
}

interface ReviewRequest {
  readonly diff?: string | undefined
  readonly files?: readonly ReviewedFile[] | undefined
  readonly focus?: Parameters<typeof review>[1]
}
