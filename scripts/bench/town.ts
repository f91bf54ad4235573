/** A town of minds over HTTP: what becomes of its people, beside the targets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomDeciders } from '../town/baseline.ts'
import { connect } from '../town/client.ts'
import type { PresetName } from '../town/preset.ts'
import { mindsOf, type Run, type RunOptions, runTown } from '../town/run.ts'
import { criticalShare, outcomesOf } from '../town/score.ts'
import { startProgram } from './program.ts'
import { number, type Section } from './report.ts'

/** Which towns are played. */
export interface Towns {
  readonly preset: PresetName
  readonly seeds: readonly number[]
  readonly days: number
}

/** Plays one town against a server of its own; `server` is what Node runs. */
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
    return await runTown(options, mindsOf(client.call, options))
  } finally {
    await client.close()
    await program.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Plays towns of one preset one after the other and judges them together. */
export async function measureTown(
  server: readonly string[],
  { preset, seeds, days }: Towns = { preset: 'scarce', seeds: [1, 2, 3, 4, 5], days: 7 },
): Promise<Section> {
  const runs: Run[] = []
  const before = performance.now()
  for (const seed of seeds) runs.push(await playTown(server, { preset, seed, days }))
  const seconds = (performance.now() - before) / 1000
  const random: number[] = []
  for (const seed of seeds)
    random.push(criticalShare(await runTown({ preset, seed, days }, randomDeciders(seed))))
  const decisions = runs.reduce((sum, { tally }) => sum + tally.decisions, 0)
  const chance = random.map((share) => `${(100 * share).toFixed(1)} %`).join(', ')
  return {
    title: `A town of minds: ${preset}, ${days} days, seeds ${seeds.join(', ')}`,
    about:
      `Decided by the policy, no language model. ${decisions.toLocaleString('en')} decisions over HTTP in ` +
      `${number(seconds)} s. The same towns with random legal actions: ${chance} of need-minutes below 25 %.`,
    head: ['outcome', 'target', 'measured', ''],
    rows: outcomesOf(runs).map(({ name, target, measured, isMet }) => [
      name,
      target,
      measured,
      isMet === undefined ? '' : isMet ? 'met' : 'missed',
    ]),
  }
}
