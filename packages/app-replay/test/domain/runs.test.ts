import type { RunSummary, RunVerdict } from '@causeway/recording'
import t from 'tap'
import { mulberry32 } from '../../../../fixtures/generate/mulberry32.ts'
import { verifies } from '../../../../test/verifies.ts'
import { compareCommits, groupByCommit } from '../../src/domain/runs/commits.ts'
import { computeFisherPValue, computeWilsonInterval } from '../../src/domain/runs/fisher.ts'
import { findRegression, listMetrics, parseMetric } from '../../src/domain/runs/regression.ts'
import { filterRuns, orderRuns, parseFilter } from '../../src/domain/runs/run-filter.ts'
import { measureSimilarity, rankSimilarRuns } from '../../src/domain/runs/similarity.ts'

const table = (badBefore: number, goodBefore: number, badAfter: number, goodAfter: number) => ({
  badBefore,
  goodBefore,
  badAfter,
  goodAfter,
})

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b))

verifies('replay:runs:fisher', async (t) => {
  // Fisher's tea tasting (The Design of Experiments, 1935): 17 of 70 arrangements are at least as good.
  t.ok(isNear(computeFisherPValue([table(1, 3, 3, 1)]), 17 / 70))
  t.ok(isNear(computeFisherPValue([table(0, 4, 4, 0)]), 1 / 70))
  // One of C(24, 4) arrangements.
  t.ok(isNear(computeFisherPValue([table(0, 20, 4, 0)]), 1 / 10_626))
  // Table of the documentation of R, fisher.test(matrix(c(3, 1, 1, 3)), alternative = "greater"), and of scipy.
  t.ok(Math.abs(computeFisherPValue([table(1, 11, 9, 3)]) - 0.001_379_728) < 1e-8)
  t.ok(isNear(computeFisherPValue([table(3, 5, 0, 8)]), 1), 'a fall does not count')
  t.ok(isNear(computeFisherPValue([]), 1))
  const large = computeFisherPValue([table(0, 50_000, 40, 49_960)])
  t.ok(large > 0 && large < 1e-11, `half of the runs have all of 40: ${large}`)
})

verifies('replay:runs:fisher', 'fisherGreater tests each stratum within its own margins', async (t) => {
  // By enumeration: P(X + Y >= 3), X from 2 of 4 (2 bad), Y likewise: P(2) = 1/6, P(1) = 4/6.
  const strata = [table(0, 2, 2, 0), table(1, 1, 1, 1)]
  t.ok(isNear(computeFisherPValue(strata), (1 / 6) * (1 / 6) + 2 * (1 / 6) * (4 / 6)))
  // A scenario that always fails, and that only later commits run, does not count.
  t.ok(isNear(computeFisherPValue([table(0, 50, 0, 50), table(0, 0, 50, 0)]), 1))
  t.ok(computeFisherPValue([table(0, 50, 50, 50)]) < 1e-6, 'the same runs without strata')
})

t.test('computeWilsonInterval returns the same limits as R', (t) => {
  // R: prop.test(x, n, correct = FALSE)$conf.int
  const [low, high] = computeWilsonInterval(5, 10)
  t.ok(Math.abs(low - 0.236_593_1) < 1e-6 && Math.abs(high - 0.763_406_9) < 1e-6)
  t.same(computeWilsonInterval(0, 0), [0, 1])
  t.ok(Math.abs(computeWilsonInterval(0, 10)[1] - 0.277_532_8) < 1e-6)
  t.end()
})

const noVerdict: RunVerdict = {
  checked: ['finite_numbers'],
  not_checked: [],
  errors: 0,
  kinds: [],
  first_bad_frame: null,
  first_bad_kind: null,
  worst_penetration_m: 0.001,
  worst_speed_m_s: 1,
  worst_energy_step_j: null,
  worst_iterations: 10,
  worst_residual: null,
}

const failed = (...kinds: readonly string[]): RunVerdict => ({
  ...noVerdict,
  errors: kinds.length,
  kinds,
  first_bad_frame: 50,
  first_bad_kind: kinds[0] ?? null,
})

function makeRun(index: number, change: Partial<RunSummary> = {}): RunSummary {
  const [commit, scenario] = [`c${Math.floor(index / 10)}`, `s${index % 2}`]
  return {
    recording: `run-${index}`,
    name: `run-${index}`,
    revision: 'finished/100',
    sealed_ms: index,
    status: 'finished',
    frames: 100,
    bodies: 10,
    duration_s: 1,
    commit,
    branch: 'main',
    scenario,
    seed: index,
    host: 'ci',
    engine_version: '1',
    tags: ['nightly'],
    verdict: noVerdict,
    ...change,
  }
}

/** Makes 1,000 runs of 100 commits. A share `base` of them is bad; from a commit on, the share is `after`. */
function makeRuns(
  seed: number,
  { base, after = base, from = 0, count = 1000 }: Record<string, number> & { base: number },
) {
  const random = mulberry32(seed)
  return Array.from({ length: count }, (_, i) => {
    const isBad = random() < (Math.floor(i / 10) >= from ? after : base)
    return makeRun(i, isBad ? { verdict: failed('blow_up') } : {})
  })
}

const search = (runs: readonly RunSummary[]) => findRegression(groupByCommit(runs), listMetrics(runs))

verifies('replay:runs:regression', async (t) => {
  for (const [seed, base, after, from] of [
    [1, 0, 1, 60],
    [2, 0, 1, 1],
    [3, 0.02, 0.9, 37],
    [4, 0, 1, 99],
  ] as const) {
    const { found } = search(makeRuns(seed, { base, after, from }))
    t.match(found, { commit: `c${from}`, previous_commit: `c${from - 1}` }, `seed ${seed}`)
    t.ok((found?.corrected_p ?? 1) < 0.001)
  }
  const runs = makeRuns(5, { base: 0.05, after: 0.4, from: 50 })
  const { found } = search(runs)
  const named = [found?.commit ?? '', ...(found?.candidates ?? [])]
  t.ok(named.includes('c50'), `a small rise is narrowed down to ${named}`)
})

verifies('replay:runs:regression', 'findRegression finds nothing in 5,000 clean runs', async (t) => {
  for (const base of [0, 0.001, 0.02, 0.1])
    for (let seed = 1; seed <= 5; seed++)
      t.equal(search(makeRuns(seed, { base, count: 5000 })).found, null, `share ${base}, seed ${seed}`)
})

const failureKinds = ['blow_up', 'jitter', 'momentum', 'penetration', 'teleport', 'tunnelling'] as const

verifies(
  'replay:runs:regression',
  'findRegression finds nothing in clean runs of many scenarios and kinds',
  async (t) => {
    let alarms = 0
    for (let seed = 1; seed <= 6; seed++) {
      const random = mulberry32(1000 + seed)
      const shares = [0.001, 0.01, 0.03, 0.1]
      const runs = Array.from({ length: 5000 }, (_, i) => {
        // Runs that fail in one way often fail in another too. Scenarios differ, and some commits run only some of
        // them.
        const scenario = Math.floor(random() * (i % 250 < 125 ? 8 : 4))
        const kinds = failureKinds.filter((_, k) => random() < (shares[(scenario + k) % shares.length] ?? 0))
        const related =
          kinds.length > 0 && random() < 0.5 ? [...new Set([...kinds, 'energy_injection'])] : kinds
        const noise = { worst_penetration_m: 0.01 * random(), worst_residual: 1e-6 * random() }
        const verdict = { ...(related.length > 0 ? failed(...related) : noVerdict), ...noise }
        return makeRun(i, { commit: `c${Math.floor(i / 50)}`, scenario: `s${scenario}`, verdict })
      })
      const commits = groupByCommit(runs)
      const limits = ['worst_penetration_m > 0.009', 'worst_residual > 9e-7'].map((text) =>
        parseMetric(text, []),
      )
      if (findRegression(commits, [...listMetrics(runs), ...limits]).found !== null) alarms += 1
    }
    t.equal(alarms, 0)
  },
)

verifies(
  'replay:runs:regression',
  'findRegression does not mistake undiagnosed runs, new scenarios or new laws for a change',
  async (t) => {
    const unknown = makeRuns(1, { base: 0, after: 1, from: 50 }).map((run) => ({ ...run, verdict: null }))
    t.equal(search(unknown).found, null, 'nothing was diagnosed')
    const added = makeRuns(1, { base: 0 }).map((run, i) =>
      i >= 500 && i % 2 === 1 ? { ...run, scenario: 'new', verdict: failed('nan') } : run,
    )
    t.equal(search(added).found, null, 'a scenario that always failed was added')
    const moreLaws = makeRuns(1, { base: 0, after: 1, from: 50 }).map((run, i) =>
      i >= 500 && run.verdict
        ? { ...run, verdict: { ...run.verdict, checked: ['finite_numbers', 'rest'] } }
        : run,
    )
    t.same(search(moreLaws).checked_only_after, ['rest'])
  },
)

t.test('a limit on a worst value can be used as a metric', (t) => {
  const runs = Array.from({ length: 100 }, (_, i) =>
    makeRun(i, { verdict: { ...noVerdict, worst_penetration_m: i < 50 ? 0.001 : 0.02 } }),
  )
  const metric = parseMetric('worst_penetration_m > 0.01', [])
  t.equal(findRegression(groupByCommit(runs), [metric]).found?.commit, 'c5')
  t.equal(parseMetric('worst_residual > 1e-3', []).isBad(makeRun(1)), undefined, 'not recorded')
  for (const text of ['worst_penetration_m', 'speed > 1', 'nan > 1', '', 'worst_residual > x'])
    t.throws(() => parseMetric(text, ['nan']), { code: 'INVALID_ARGUMENTS' }, text)
  t.end()
})

t.test('compareCommits orders commits by their first run and counts undiagnosed runs', (t) => {
  const runs = [
    makeRun(20, { commit: 'b', verdict: failed('nan') }),
    makeRun(10, { commit: 'a' }),
    makeRun(30, { commit: 'b', verdict: null }),
    makeRun(40, { commit: 'b', verdict: { ...noVerdict, worst_penetration_m: 0.003 } }),
    makeRun(50, { commit: null }),
  ]
  const rows = compareCommits(groupByCommit(runs))
  t.match(rows, [
    { commit: 'a', runs: 1, bad: 0, bad_share: 0 },
    {
      commit: 'b',
      runs: 3,
      not_diagnosed: 1,
      bad: 1,
      bad_share: 0.5,
      kinds: { nan: 1 },
      worst_penetration_m: 0.002,
    },
  ])
  t.end()
})

t.test('runs are filtered and sorted, with unknown values last', (t) => {
  const runs = [
    makeRun(1, { verdict: { ...failed('nan'), worst_penetration_m: 0.5 } }),
    makeRun(2, { verdict: null, tags: [] }),
    makeRun(3, { verdict: { ...noVerdict, worst_penetration_m: 0.7 }, branch: 'dev' }),
  ]
  const names = (where: object) => filterRuns(runs, parseFilter(where)).map(({ recording }) => recording)
  t.same(names({}), ['run-1', 'run-2', 'run-3'])
  t.same(names({ bad: true }), ['run-1'])
  t.same(names({ bad: false }), ['run-3'], 'a run that was not diagnosed is neither')
  t.same(names({ diagnosed: false }), ['run-2'])
  t.same(names({ tag: 'nightly', branch: 'dev' }), ['run-3'])
  t.same(names({ kind: 'nan', seed: 1 }), ['run-1'])
  t.same(names({ since: 2 }), ['run-2', 'run-3'])
  const order = (text: string) => orderRuns(runs, text).map(({ recording }) => recording)
  t.same(order('-worst_penetration_m'), ['run-3', 'run-1', 'run-2'])
  t.same(order('worst_penetration_m'), ['run-1', 'run-3', 'run-2'])
  t.throws(() => order('seed; drop'), { code: 'INVALID_ARGUMENTS' })
  for (const where of [{ unknown: 1 }, { bad: 'yes' }, 'bad', [1], { since: 'yesterday' }])
    t.throws(() => parseFilter(where), { code: 'INVALID_ARGUMENTS' }, JSON.stringify(where))
  t.end()
})

t.test('runs that failed in the same way are more similar than other runs', (t) => {
  const target = makeRun(1, { verdict: failed('blow_up', 'energy_injection') })
  t.ok(isNear(measureSimilarity(target, { ...target, recording: 'copy' }), 1))
  const half = makeRun(2, { verdict: failed('blow_up') })
  // Jaccard index 1/2. The first kind, the onset and the worst values are equal.
  t.ok(isNear(measureSimilarity(target, half), 0.5 * 0.5 + 0.2 + 0.1 + 0.2))
  const other = makeRun(3, { verdict: failed('jitter') })
  t.ok(isNear(measureSimilarity(target, other), 0.1 + 0.2))
  const ranked = rankSimilarRuns(target, [other, target, makeRun(4, { verdict: null }), half, makeRun(5)])
  t.same(
    ranked.map(({ run }) => run.recording),
    ['run-2', 'run-3'],
    'without itself, and without runs that were not diagnosed or have no error',
  )
  t.same(ranked[0]?.shared_kinds, ['blow_up'])
  t.end()
})
