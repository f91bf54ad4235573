/** A property test of planted faults of every kind and magnitude, with complete and with missing data. */
import t, { type Test } from 'tap'
import {
  computeConfidence,
  computePlantedScore,
  describeMiss,
  type Judged,
  judge,
  judgeRuns,
  listMisses,
  listRuns,
} from '../../../../bench/replay/planted.ts'
import { missingData, type RigidRun } from '../../../../fixtures/generate/rigid/runs.ts'
import { isComplete } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { openReplay } from '../replay-kit.ts'

t.setTimeout(600_000)

const isLong = process.env.CAUSEWAY_LONG !== undefined

/**
 * Minimum shares that diagnose reaches today, and the maximum share of clean runs with a false alarm. Change them when
 * a law improves. `npm run bench -- diagnose` prints every verdict.
 */
const floors = { first: 0.95, answered: 0.97, falseAlarms: 0, confident: 0.9 }

/**
 * Judges one of this many runs. In CI, judges every scene and fault of complete runs, and a sample of incomplete runs.
 */
const stride = isLong
  ? { complete: 1, incomplete: 1 }
  : isComplete
    ? { complete: 3, incomplete: 17 }
    : { complete: 7, incomplete: 53 }

/** `CAUSEWAY_LONG` uses two seeds, to show that the laws are not tuned to one. */
const seeds = isLong ? [1, 2] : [1]

const isSampled = (index: number, every: number): boolean => index % every === 0

const completeRuns = seeds.flatMap((seed) =>
  listRuns('nothing', seed).filter((_, i) => isSampled(i + Math.floor(i / stride.complete), stride.complete)),
)

const incompleteRuns = seeds.flatMap((seed) =>
  missingData
    .filter((missing) => missing !== 'nothing')
    .flatMap((missing, k) => listRuns(missing, seed).filter((_, i) => isSampled(i + k, stride.incomplete))),
)

const reportMisses = (judged: readonly Judged[]): void => {
  for (const miss of listMisses(judged)) t.comment(describeMiss(miss))
}

/** At least 90 % of the findings with a confidence of 0.9 or more must be the planted fault. */
function checkConfidence(t: Test, judged: readonly Judged[]): void {
  const { findings, right } = computeConfidence(judged, 0.9)
  t.ok(right >= floors.confident * findings, `right findings: ${right} of ${findings}`)
}

verifies('replay:diagnose:planted', 'planted faults of complete runs rank first', async (t) => {
  const runs = listRuns('nothing')
  t.ok(runs.filter(({ fault }) => fault !== null).length >= 80)
  t.ok(runs.filter(({ fault }) => fault === null).length >= 50)
  const judged = await judgeRuns(completeRuns)
  reportMisses(judged)
  const { first, falseAlarms } = computePlantedScore(judged)
  t.ok(first >= floors.first, `ranked first: ${first}`)
  t.ok(falseAlarms <= floors.falseAlarms, `false alarms: ${falseAlarms}`)
  checkConfidence(t, judged)
})

verifies(
  'replay:diagnose:planted',
  'planted faults of incomplete runs rank first or break a law that is listed as not checked',
  async (t) => {
    const judged = await judgeRuns(incompleteRuns)
    reportMisses(judged)
    const { answered, falseAlarms } = computePlantedScore(judged)
    t.ok(answered >= floors.answered, `answered: ${answered}`)
    t.ok(falseAlarms <= floors.falseAlarms, `false alarms: ${falseAlarms}`)
    checkConfidence(t, judged)
  },
)

verifies(
  'replay:diagnose:planted',
  'diagnose ranks a planted fault first in a run that a client sends',
  async (t) => {
    const run = listRuns('nothing').find(({ name }) => name === 'teleport/2/nothing')
    if (run === undefined) throw new Error('the run does not exist')
    const { app, client } = await openReplay(t, [])
    const { recorder } = app.store as ReplayStore
    await recorder.write('planted', sendLines(run))
    const { findings } = await client().call('diagnose', { recording: 'planted' })
    t.equal(judge(run, { findings: findings as [] }).verdict, 'first')
  },
)

async function* sendLines(run: RigidRun): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${run.lines().join('\n')}\n`)
}

t.test('judge accepts a law that is listed as not checked only if no finding is wrong', async (t) => {
  const [run] = listRuns('nothing').filter(({ family }) => family === 'speed_jump')
  if (run?.fault == null) throw new Error('the run does not exist')
  const { frame } = run.fault
  const finding = { kind: 'energy_injection', severity: 'error', frames: { first: frame ?? 0 }, bodies: [1] }
  const not_checked = [{ law: 'free_motion' }]
  const verdict = (findings: readonly object[], listed: readonly { law: string }[] = []) =>
    judge(run, { findings: findings as [], not_checked: listed }).verdict
  t.equal(verdict([finding]), 'first')
  t.equal(verdict([{ ...finding, frames: { first: (frame ?? 0) + 2 } }]), 'wrong')
  t.equal(verdict([{ ...finding, bodies: [2] }]), 'wrong')
  t.equal(verdict([{ ...finding, severity: 'info' }]), 'missed')
  t.equal(verdict([], not_checked), 'unchecked')
  t.equal(verdict([{ ...finding, kind: 'teleport' }], not_checked), 'wrong')
  t.equal(verdict([{ ...finding, bodies: [2] }], not_checked), 'wrong')
})
