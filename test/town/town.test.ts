import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { sideBySide } from '../../bench/minds/town.ts'
import { randomFrom } from '../random.ts'
import { verifies } from '../verifies.ts'
import { MortalServer } from './mortal.ts'
import { presetNames } from './preset.ts'
import { mindsOf, type Run, type RunOptions, runTown } from './run.ts'
import { criticalShare, outcomesOf } from './score.ts'

/** Minds in a town: what becomes of its people in two days, and the same run however the server fares meanwhile. */

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 4_500_000 : 480_000)

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

/** The same seed gives the same town, on another server and through the deaths of one. */

const options: RunOptions = { preset: 'scarce', seed: 11, days: isLong ? 0.25 : 0.1, night: 36 }

interface Lived {
  readonly run: Run
  /** mind -> ids of its memories, sorted */
  readonly memories: Readonly<Record<string, readonly string[]>>
  readonly server: MortalServer
}

async function live(t: Test, name: string, kills: ReadonlySet<number>): Promise<Lived> {
  const dir = t.testdir({ [name]: {} })
  const server = new MortalServer(t, `${dir}/${name}`, { kills, random: randomFrom(5) })
  const run = await runTown(options, mindsOf(server.call, options))
  const minds = [...new Set(run.script.told.map(({ hearer }) => hearer))].sort()
  const memories: Record<string, readonly string[]> = {}
  for (const mind of minds) memories[mind] = (await server.memories(mind)).map(({ id }) => id).sort()
  await server.stop()
  return { run, memories, server }
}

verifies('minds:town:again', async (t) => {
  const [first, second] = [await live(t, 'first', new Set()), await live(t, 'second', new Set())]
  t.ok(first.run.tally.decisions > 100)
  t.equal(second.run.hash, first.run.hash)
  t.same(second.memories, first.memories)
})

verifies('minds:town:killed', async (t) => {
  const calm = await live(t, 'calm', new Set())
  const random = randomFrom(20_261_122)
  const times = isLong ? 20 : 3
  const kills = new Set<number>()
  while (kills.size < times) kills.add(1 + random.below(calm.server.calls))
  const killed = await live(t, 'killed', kills)
  t.ok(killed.server.deaths >= times / 2, `${killed.server.deaths} deaths`)
  t.equal(killed.run.hash, calm.run.hash, 'the same actions as without a death')
  t.same(killed.memories, calm.memories, 'the same memories, none lost and none doubled')
})
