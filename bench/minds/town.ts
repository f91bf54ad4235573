/** Simulates a town of minds over HTTP and compares the outcomes with targets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandomDeciders } from '../../test/town/baseline.ts'
import { connect } from '../../test/town/client.ts'
import type { PresetName } from '../../test/town/preset.ts'
import { createMindDeciders, type Run, type RunOptions, runTown } from '../../test/town/run.ts'
import { criticalShare, evaluateRuns } from '../../test/town/score.ts'
import { startProgram } from '../program.ts'
import { number, type Section } from '../report.ts'

/** The towns to simulate. */
export interface Towns {
  readonly preset: PresetName
  readonly seeds: readonly number[]
  readonly days: number
}

/** Simulates one town with its own server. `server` is the server's entry point. */
export async function playTown(server: readonly string[], options: RunOptions): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-town-'))
  const program = await startProgram(server, {
    CAUSEWAY_DATA_DIR: folder,
    CAUSEWAY_APPS: 'Minds',
    MCP_SERVER_PORT: '0',
    CAUSEWAY_RATE_LIMITS: 'off',
  })
  const client = connect(program.url)
  try {
    return await runTown(options, createMindDeciders(client.call, options))
  } finally {
    await client.close()
    await program.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Simulates towns of one preset and evaluates them together. */
export async function measureTown(
  server: readonly string[],
  { preset, seeds, days }: Towns = { preset: 'scarce', seeds: [1, 2, 3, 4, 5], days: 7 },
): Promise<Section> {
  const before = performance.now()
  const runs = await sideBySide(seeds, (seed) => playTown(server, { preset, seed, days }))
  const seconds = (performance.now() - before) / 1000
  const random: number[] = []
  for (const seed of seeds)
    random.push(criticalShare(await runTown({ preset, seed, days }, createRandomDeciders(seed))))
  const decisions = runs.reduce((sum, { tally }) => sum + tally.decisions, 0)
  const chance = random.map((share) => `${(100 * share).toFixed(1)} %`).join(', ')
  return {
    title: `A town of minds: ${preset}, ${days} days, seeds ${seeds.join(', ')}`,
    about:
      `Decided by the policy, no language model. ${decisions.toLocaleString('en')} decisions over HTTP in ` +
      `${number(seconds)} s. The same towns with random legal actions: ${chance} of need-minutes below 25 %.`,
    head: ['outcome', 'target', 'measured', ''],
    rows: evaluateRuns(runs).map(({ name, target, measured, isMet }) => [
      name,
      target,
      measured,
      isMet === undefined ? '' : isMet ? 'met' : 'missed',
    ]),
  }
}

/** Number of concurrent towns: each occupies the main thread of its server, and the outcomes do not depend on timing. */
const lanes = 2

/** Simulates a town for each seed, several at a time. The runs are in the order of the seeds. */
export async function sideBySide(
  seeds: readonly number[],
  play: (seed: number) => Promise<Run>,
): Promise<readonly Run[]> {
  const waiting = [...seeds.entries()]
  const runs: (readonly [number, Run])[] = []
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      runs.push([next[0], await play(next[1])])
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return runs.sort(([a], [b]) => a - b).map(([, run]) => run)
}
