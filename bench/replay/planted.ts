/**
 * Diagnoses runs of the rigid-body simulation with a known fault, over faults, magnitudes and missing data: the fault must rank first, or
 * a law that it breaks must be listed as not checked. Clean runs must not have a finding of severity warning or above.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ExpectedFault,
  listCleanRuns,
  listFaultyRuns,
  type MissingData,
  missingData,
  type RigidRun,
} from '../../fixtures/generate/rigid/runs.ts'
import { checkFrames } from '../../packages/app-replay/src/analysis/check-frames.ts'
import { type RankedFinding, rankFindings } from '../../packages/app-replay/src/domain/findings/ranking.ts'
import { type LawName, laws } from '../../packages/app-replay/src/domain/laws/laws.ts'
import { createLineReader } from '../../packages/recording/src/formats/lines/line-reader.ts'
import { openReader } from '../../packages/recording/src/reader/open-reader.ts'
import { openRunWriter } from '../../packages/recording/src/recorder/run-writer.ts'
import type { Section } from '../report.ts'

/** A finding as `diagnose` returns it. */
interface ReportedFinding {
  readonly kind: string
  readonly severity: string
  readonly frames: { readonly first: number }
  readonly bodies: readonly number[]
  readonly confidence?: number
  readonly caused_by?: string | null
}

/** Answer of `diagnose`. */
interface Diagnosis<Found extends ReportedFinding = ReportedFinding> {
  readonly findings: readonly Found[]
  readonly not_checked?: readonly { readonly law: string }[]
}

/**
 * `first`: named right; `unchecked`: a law that the fault breaks is listed as not checked, and nothing is found; `wrong`: something else
 * ranks first; `missed`: nothing is found.
 */
export type Verdict = 'first' | 'unchecked' | 'wrong' | 'missed' | 'clean' | 'false alarm'

/** The verdict about a run, the first finding, and all findings that follow from no other. */
export interface Judged {
  readonly run: RigidRun
  readonly verdict: Verdict
  readonly first: ReportedFinding | undefined
  readonly causes: readonly ReportedFinding[]
}

const environmentBit = 0x8000_0000
const plainId = (id: number): number => (id >= environmentBit ? id - environmentBit : id)

/** Whether a finding concerns a body of the fault. */
function concerns(finding: ReportedFinding, { bodies }: ExpectedFault): boolean {
  const named = finding.bodies.map(plainId)
  return bodies.length === 0 || bodies.some((id) => named.includes(id))
}

/** Whether a finding names the fault: its kind, one of its bodies, and its frame within one. */
function names(finding: ReportedFinding, fault: ExpectedFault): boolean {
  const { kinds, frame } = fault
  const isFrame = frame === null || Math.abs(finding.frames.first - frame) <= 1
  return kinds.includes(finding.kind) && concerns(finding, fault) && isFrame
}

/** Returns the verdict about a diagnosis. Findings of severity info do not count. */
export function judge(run: RigidRun, { findings, not_checked = [] }: Diagnosis): Judged {
  const serious = findings.filter(({ severity }) => severity !== 'info')
  const [first] = serious
  const causes = serious.filter((finding) => finding.caused_by == null)
  const { fault } = run
  const verdict = (): Verdict => {
    if (fault === null) return first === undefined ? 'clean' : 'false alarm'
    if (first !== undefined && names(first, fault)) return 'first'
    if (first !== undefined) return 'wrong'
    return not_checked.some(({ law }) => fault.laws.includes(law)) ? 'unchecked' : 'missed'
  }
  return { run, verdict: verdict(), first, causes }
}

/** Records and diagnoses runs. */
export async function judgeRuns(runs: readonly RigidRun[]): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  for (const run of runs) {
    // A folder remembers its data files: a new one for each run.
    const dir = mkdtempSync(join(tmpdir(), 'causeway-planted-'))
    try {
      const file = join(dir, 'run.db')
      writeRunFile(file, run.lines())
      judged.push(judge(run, await diagnoseFile(file)))
    } finally {
      rmSync(dir, { recursive: true })
    }
  }
  return judged
}

function writeRunFile(file: string, lines: readonly string[]): void {
  const writer = openRunWriter(file, 0)
  try {
    const readLine = createLineReader(writer.context)
    for (const text of lines) {
      const line = readLine(text)
      if ('run' in line) writer.addRun(line.run)
      else {
        if (line.hasContactData) writer.markContactData()
        writer.addFrame(line.frame, 0)
      }
    }
    writer.setStatus('finished', 0)
  } finally {
    writer.close()
  }
}

/** Diagnoses a file in this thread: starting a worker for each recording takes longer than the diagnosis. */
export async function diagnoseFile(file: string): Promise<Diagnosis<RankedFinding>> {
  const reader = openReader(file)
  try {
    const summary = reader.summary()
    const { findings, coverage } = await checkFrames(
      { range: { start: null, end: null }, laws: Object.keys(laws) as LawName[], options: {} },
      {
        summary,
        reader,
        windows: reader.windows(summary),
        signal: new AbortController().signal,
        progress() {},
      },
    )
    return { findings: rankFindings(findings), not_checked: coverage.not_checked }
  } finally {
    reader.close()
  }
}

/** Returns all runs that lack some data, clean ones first. */
export const listRuns = (missing: MissingData, seed = 1): readonly RigidRun[] => [
  ...listCleanRuns(missing, seed),
  ...listFaultyRuns(missing, seed),
]

/** Counts of verdicts. */
export interface PlantedScore {
  /** Share of the faults that rank first. */
  readonly first: number
  /** Share of the faults that rank first or are listed as not checkable. */
  readonly answered: number
  /** Share of the clean runs with a false alarm. */
  readonly falseAlarms: number
}

export function computePlantedScore(judged: readonly Judged[]): PlantedScore {
  const count = (verdict: Verdict): number => judged.filter((one) => one.verdict === verdict).length
  const faulty = judged.filter(({ run }) => run.fault !== null).length
  return {
    first: count('first') / faulty,
    answered: (count('first') + count('unchecked')) / faulty,
    falseAlarms: count('false alarm') / (judged.length - faulty),
  }
}

/** Findings of a confidence that are the planted fault. */
export interface ConfidenceScore {
  readonly findings: number
  readonly right: number
}

const confidenceSteps = [0.9, 0.7, 0.5, 0]

/** Counts the causes with a confidence from `least` to below `under` that name the planted fault. */
export function computeConfidence(
  judged: readonly Judged[],
  least: number,
  under = Number.POSITIVE_INFINITY,
): ConfidenceScore {
  const counted = judged.flatMap(({ run, causes }) =>
    causes
      .filter(({ confidence = 0 }) => confidence >= least && confidence < under)
      .map((finding) => run.fault !== null && names(finding, run.fault)),
  )
  return { findings: counted.length, right: counted.filter((isRight) => isRight).length }
}

/** Describes a run with a wrong verdict: the run, the verdict and the first finding. */
export const describeMiss = ({ run, verdict, first }: Judged): string => {
  const expected = run.fault
    ? ` expected ${run.fault.kinds.join(' or ')} of ${run.fault.bodies.join(', ') || 'any body'} in frame ${run.fault.frame ?? 'any'};`
    : ''
  const found = first
    ? ` found ${first.kind} of ${first.bodies.map(plainId).join(', ')} in frame ${first.frames.first}`
    : ' found nothing'
  return `${run.name}: ${verdict};${expected}${found}`
}

/** Returns the runs whose verdict is wrong. */
export const listMisses = (judged: readonly Judged[]): readonly Judged[] =>
  judged.filter(({ verdict }) => !['first', 'unchecked', 'clean'].includes(verdict))

/** Returns the score of every kind of missing data, and the verdict of every fault. */
export async function measurePlanted(report: (line: string) => void): Promise<readonly Section[]> {
  const all: Judged[] = []
  for (const missing of missingData) all.push(...(await judgeRuns(listRuns(missing))))
  for (const miss of listMisses(all)) report(describeMiss(miss))
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
  const about = 'Runs of a rigid-body simulation with one planted fault, and clean runs.'
  const byData = missingData.map((missing) => {
    const judged = all.filter(({ run }) => run.missing === missing)
    const { first, answered, falseAlarms } = computePlantedScore(judged)
    const faulty = judged.filter(({ run }) => run.fault !== null).length
    const clean = String(judged.length - faulty)
    return [missing, String(faulty), percent(first), percent(answered), clean, percent(falseAlarms)]
  })
  const byConfidence = confidenceSteps.map((least, i) => {
    const under = confidenceSteps[i - 1] ?? Number.POSITIVE_INFINITY
    const { findings, right } = computeConfidence(all, least, under)
    const range = i === 0 ? `${least} or more` : `${least} to ${under}`
    return [range, String(findings), String(right), findings === 0 ? '' : percent(right / findings)]
  })
  const letters = { first: '1', unchecked: '–', wrong: 'w', missed: 'm', clean: 'c', 'false alarm': 'F' }
  const families = [...new Set(all.map(({ run }) => run.family))]
  const byFault = families.map((family) => [
    family,
    ...missingData.map((missing) =>
      all
        .filter(({ run }) => run.family === family && run.missing === missing)
        .map(({ verdict }) => letters[verdict])
        .join(' '),
    ),
  ])
  return [
    {
      title: 'Planted faults by missing data',
      about: `${about} A fault is answered if it ranks first or if a law that it breaks is listed as not checked.`,
      head: ['missing', 'faults', 'ranked first', 'answered', 'clean runs', 'false alarms'],
      rows: byData,
    },
    {
      title: 'Confidence of findings',
      about:
        'Findings of severity warning or above that follow from no other, in all runs. A finding is right if it is the planted fault.',
      head: ['confidence', 'findings', 'right', 'share'],
      rows: byConfidence,
    },
    {
      title: 'Planted faults by kind',
      about: `${about} One letter for each magnitude: 1 ranked first, – not checkable, w another finding first, m missed, c clean, F false alarm.`,
      head: ['fault or scene', ...missingData],
      rows: byFault,
    },
  ]
}
