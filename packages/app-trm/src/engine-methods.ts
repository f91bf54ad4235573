/** What the worker for code does; all of it pure, all of it data. */
import type { AppliedCandidate, Candidate, FilesBefore } from './domain/candidate/types.ts'
import type { Coverage } from './domain/coverage.ts'
import type { Diagnostic } from './domain/diagnostic.ts'
import type { Problem } from './domain/feedback/problem.ts'
import type { Fix } from './domain/fix/fix.ts'
import type { FixContext } from './domain/fix/rule.ts'
import type { Metric, MetricOptions } from './domain/metric.ts'
import type { TestEvidence } from './domain/report/read-tests.ts'
import type { TestRun } from './domain/report/test-run.ts'
import type { ReviewedFile } from './domain/review/changed-file.ts'
import type { Review } from './domain/review/review.ts'
import type { Category } from './domain/suggest/finding.ts'
import type { Suggestion, SuggestRequest } from './domain/suggest/suggest.ts'

/** A candidate that was read, and the files that must be read for it. */
export interface ReadCandidate {
  readonly candidate: Candidate
  readonly paths: readonly string[]
}

/** What repairs are made from. */
export interface FixRequest extends FixContext {
  readonly problems: readonly Problem[]
  /** What the commands wrote; eslint tells its repairs there. */
  readonly outputs: readonly string[]
}

/** What commands wrote, and the top-level modules of the project. */
export interface ProblemsRequest {
  readonly outputs: readonly string[]
  readonly modules: ReadonlySet<string>
}

/** A file that may tell of coverage, and the paths that the session has changed. */
export interface CoverageFile {
  readonly source: string
  readonly text: string
  readonly changed: readonly string[]
}

/** Outputs in the order in which a measure is looked for. */
export interface MetricRequest extends MetricOptions {
  readonly outputs: readonly string[]
}

/** What is reviewed: a diff, files, or both. */
export interface ReviewRequest {
  readonly diff?: string | undefined
  readonly files?: readonly ReviewedFile[] | undefined
  readonly focus?: readonly Category[] | undefined
}

/** The methods by name. */
export type EngineMethods = {
  readonly read: (input: unknown) => ReadCandidate
  readonly apply: (args: { readonly files: FilesBefore; readonly candidate: Candidate }) => AppliedCandidate
  /** The run that reports and output tell of; undefined where nothing tells of tests. */
  readonly tests: (evidence: TestEvidence) => TestRun | undefined
  /** What has changed in a text, cut. */
  readonly difference: (texts: {
    readonly path: string
    readonly before: string
    readonly after: string
  }) => string
  readonly coverage: (file: CoverageFile) => Coverage | undefined
  readonly metric: (request: MetricRequest) => Metric | undefined
  readonly diagnostics: (output: string) => readonly Diagnostic[]
  readonly problems: (request: ProblemsRequest) => readonly Problem[]
  /** Python files by path -> names that they define -> the modules that define them. */
  readonly definitions: (texts: ReadonlyMap<string, string>) => ReadonlyMap<string, readonly string[]>
  readonly fix: (request: FixRequest) => readonly Fix[]
  readonly suggest: (request: SuggestRequest) => readonly Suggestion[]
  readonly review: (request: ReviewRequest) => Review
}
