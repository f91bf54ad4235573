/** Measures questions over 1,000 runs: which blew up, and since which commit, from their summaries. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLibrary, type RunSummary } from '@causeway/recording'
import { mulberry32 } from '../../fixtures/generate/mulberry32.ts'
import { groupByCommit } from '../../packages/app-replay/src/domain/runs/commits.ts'
import { findRegression, listMetrics } from '../../packages/app-replay/src/domain/runs/regression.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { median } from '../rounds.ts'

const [runCount, commitCount, firstBad] = [1000, 100, 60]
const rounds = 15
const limit = { most: 50 }

const checked = ['finite_numbers', 'momentum', 'energy', 'penetration', 'friction_cone', 'teleport']

function makeRun(i: number, random: () => number): RunSummary {
  const commit = Math.floor((i * commitCount) / runCount)
  const isBad = random() < (commit < firstBad ? 0.02 : 0.6)
  return {
    recording: `run-${i}`,
    name: `run-${i}`,
    revision: 'finished/1000',
    sealed_ms: i,
    status: 'finished',
    frames: 1000,
    bodies: 10,
    duration_s: 10,
    commit: `commit-${commit}`,
    branch: 'main',
    scenario: `scenario-${i % 10}`,
    seed: i,
    host: 'ci',
    engine_version: '1',
    tags: ['nightly'],
    verdict: {
      checked,
      not_checked: [],
      errors: isBad ? 2 : 0,
      kinds: isBad ? ['blow_up', 'energy_injection'] : [],
      first_bad_frame: isBad ? Math.floor(random() * 1000) : null,
      first_bad_kind: isBad ? 'blow_up' : null,
      worst_penetration_m: random() * 0.001,
      worst_speed_m_s: 3 + random(),
      worst_energy_step_j: random(),
      worst_iterations: Math.floor(random() * 50),
      worst_residual: random() * 1e-6,
    },
  }
}

export async function measureRuns(): Promise<Section> {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-bench-runs-'))
  const roots = { folders: () => [], resolve: async (path: string) => path }
  const library = await openLibrary({ dir, roots, now: Date.now })
  try {
    const random = mulberry32(1)
    for (let i = 0; i < runCount; i++) library.summaries.put(makeRun(i, random))
    const answer = () => {
      const runs = library.summaries.list()
      const bad = runs.filter(({ verdict }) => verdict?.kinds.includes('blow_up'))
      return { bad, found: findRegression(groupByCommit(runs), listMetrics(runs)).found }
    }
    const times: number[] = []
    for (let i = 0; i < rounds; i++) {
      const before = process.cpuUsage()
      answer()
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / 1000)
    }
    const { bad, found } = answer()
    return {
      title: 'Questions over many runs',
      about: `Replay answers which of ${runCount} runs of 1,000 frames and 10 bodies blew up, and since which of ${commitCount} commits, from the summaries of the runs. Median processor time of ${rounds} answers, in ms.`,
      head: ['question', 'answer', 'budget', 'measured'],
      rows: [
        [
          'which runs blew up, since which commit',
          `${number(bad.length)} runs, since ${found?.commit ?? 'none'}`,
          limitText(limit, 'ms'),
          held(median(times), limit, 'ms'),
        ],
      ],
    }
  } finally {
    await library.close()
    rmSync(dir, { recursive: true })
  }
}
