/** Minds in a town: what becomes of its people in two days, and the same run however the server fares meanwhile. */
import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { sideBySide } from '../../bench/minds/town.ts'
import { randomFrom } from '../random.ts'
import { verifies } from '../verifies.ts'
import { MortalServer } from './mortal.ts'
import { presetNames } from './preset.ts'
import { mindsOf, type Run, type RunOptions, runTown } from './run.ts'
import { criticalShare, outcomesOf } from './score.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 3_600_000 : 240_000)

/** Plays a town against a server of its own, whose data are below a folder. */
async function play(t: Test, folder: string, options: RunOptions): Promise<Run> {
  const dir = `${folder}/${options.preset}-${options.seed}`
  mkdirSync(dir)
  const server = new MortalServer(t, dir, { kills: new Set(), random: randomFrom(1) })
  const run = await runTown(options, mindsOf(server.call, options))
  await server.stop()
  return run
}

verifies('minds:town:scarce', async (t) => {
  const folder = t.testdir()
  const runs = await sideBySide(isLong ? [1, 2, 3, 4, 5] : [1], (seed) =>
    play(t, folder, { preset: 'scarce', seed, days: isLong ? 7 : 2 }),
  )
  for (const { name, target, measured, isMet } of outcomesOf(runs)) {
    // In two days nobody knows their way about yet; what the needs come to is judged over a week.
    if (name.startsWith('need-minutes') && !isLong) continue
    if (isMet !== undefined) t.ok(isMet, `${name}: ${measured}, target ${target}`)
  }
})

verifies('minds:town:presets', async (t) => {
  const folder = t.testdir()
  for (const preset of presetNames.filter((name) => name !== 'scarce')) {
    const run = await play(t, folder, { preset, seed: 2, days: isLong ? 3 : 0.25 })
    t.same(run.tally.illegal, [], `${preset}: no illegal action`)
    t.same(run.tally.deadlocks, [], `${preset}: no deadlock`)
    t.ok(run.tally.talks.begun > 0, `${preset}: people talk`)
    if (isLong)
      t.ok(criticalShare(run) < 0.02, `${preset}: ${criticalShare(run)} of need-minutes are critical`)
  }
})
