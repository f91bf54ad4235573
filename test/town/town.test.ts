/** Simulates towns of minds on a server and checks their outcomes. */
import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { sideBySide } from '../../bench/minds/town.ts'
import { randomFrom } from '../random.ts'
import { verifies } from '../verifies.ts'
import { CrashingServer } from './crashing-server.ts'
import { presetNames } from './preset.ts'
import { createMindDeciders, type Run, type RunOptions, runTown } from './run.ts'
import { criticalShare, evaluateRuns } from './score.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 4_500_000 : 480_000)

/** Runs a town with its own server, whose data are in a subfolder of `folder`. */
async function play(t: Test, folder: string, options: RunOptions): Promise<Run> {
  const dir = `${folder}/${options.preset}-${options.seed}`
  mkdirSync(dir)
  const server = new CrashingServer(t, dir, { kills: new Set(), random: randomFrom(1) })
  const run = await runTown(options, createMindDeciders(server.call, options))
  await server.stop()
  return run
}

verifies('minds:town:scarce', async (t) => {
  const folder = t.testdir()
  const runs = await sideBySide(isLong ? [1, 2, 3, 4, 5] : [1], (seed) =>
    play(t, folder, { preset: 'scarce', seed, days: isLong ? 7 : 2 }),
  )
  for (const { name, target, measured, isMet } of evaluateRuns(runs)) {
    // After two days, the characters have not explored the town yet: needs are evaluated in the long run only.
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
    t.ok(run.tally.talks.count > 0, `${preset}: characters talk`)
    if (isLong)
      t.ok(criticalShare(run) < 0.02, `${preset}: ${criticalShare(run)} of need-minutes are critical`)
  }
})

const options: RunOptions = { preset: 'scarce', seed: 11, days: isLong ? 0.25 : 0.1, sleepInterval: 36 }

interface RunResult {
  readonly run: Run
  /** Maps each mind to the sorted ids of its memories. */
  readonly memories: Readonly<Record<string, readonly string[]>>
  readonly server: CrashingServer
}

async function playWithCrashes(t: Test, name: string, kills: ReadonlySet<number>): Promise<RunResult> {
  const dir = t.testdir({ [name]: {} })
  const server = new CrashingServer(t, `${dir}/${name}`, { kills, random: randomFrom(5) })
  const run = await runTown(options, createMindDeciders(server.call, options))
  const minds = [...new Set(run.script.facts.map(({ listener }) => listener))].sort()
  const memories: Record<string, readonly string[]> = {}
  for (const mind of minds) memories[mind] = (await server.memories(mind)).map(({ id }) => id).sort()
  await server.stop()
  return { run, memories, server }
}

verifies('minds:town:again', async (t) => {
  const first = await playWithCrashes(t, 'first', new Set())
  const second = await playWithCrashes(t, 'second', new Set())
  t.ok(first.run.tally.decisions > 100)
  t.equal(second.run.hash, first.run.hash)
  t.same(second.memories, first.memories)
})

verifies('minds:town:killed', async (t) => {
  const undisturbed = await playWithCrashes(t, 'undisturbed', new Set())
  const random = randomFrom(20_261_122)
  const times = isLong ? 20 : 3
  const kills = new Set<number>()
  while (kills.size < times) kills.add(1 + random.below(undisturbed.server.calls))
  const killed = await playWithCrashes(t, 'killed', kills)
  t.ok(killed.server.crashes >= times / 2, `${killed.server.crashes} crashes`)
  t.equal(killed.run.hash, undisturbed.run.hash, 'the same actions as without a crash')
  t.same(killed.memories, undisturbed.memories, 'the same memories, none lost and none duplicated')
})
