/** The same seed gives the same town, on another server and through the deaths of one. */
import t, { type Test } from 'tap'
import { randomFrom } from '../random.ts'
import { verifies } from '../verifies.ts'
import { MortalServer } from './mortal.ts'
import { mindsOf, type Run, type RunOptions, runTown } from './run.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 900_000 : 240_000)

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
