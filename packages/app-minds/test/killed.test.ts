import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { wellOf, wellSeen } from './killed/wells.ts'
import { type Data, dataFolder, makeMind, type OpenMinds, openMinds } from './minds-kit.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 900_000 : 60_000)

const program = fileURLToPath(new URL('./killed/living.ts', import.meta.url))

/** Lives until so many lines were answered and a little longer, is killed, and tells what was answered. */
async function killedLife(
  t: Test,
  dir: string,
  from: number,
  { lines, lateMs }: { lines: number; lateMs: number },
) {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=@causeway/source', program, dir, String(from)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const answered = new Map<string, Data>()
  let seen = 0
  if (child.stdout === null) throw new Error('the process has an output')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { request_id, answer } = JSON.parse(line)
    if (request_id !== undefined) answered.set(request_id, answer)
    if (++seen === lines) setTimeout(() => child.kill('SIGKILL'), lateMs)
  })
  const [code, signal] = await once(child, 'close')
  t.same([code, signal], [null, 'SIGKILL'])
  return answered
}

/** Every memory of a mind, of the day and lasting. */
async function memoriesOf(minds: OpenMinds, mindId: string): Promise<{ id: string; content: string }[]> {
  const lasting: Data = (
    minds.app.store as { memories(id: string, limit: number): Promise<unknown> }
  ).memories(mindId, 1e6)
  return [...(await lasting), ...(await minds.read(`mind://${mindId}/daily_memories`))]
}

/** Random numbers of a seed: a failing run can be run again. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

verifies('minds:killed', 'at any moment of deciding and of consolidating', async (t) => {
  const dir = await dataFolder(t)
  const first = await openMinds(t, { dir })
  for (const id of ['mara', 'ben']) await makeMind(first, id)
  await first.app.close()
  const next = random(20_251_122)
  const all = new Map<string, Data>()
  let from = 0
  for (let life = 0; life < (isLong ? 50 : 5); life++) {
    const answered = await killedLife(t, dir, from, {
      lines: 1 + Math.floor(next() * 40),
      lateMs: next() * 15,
    })
    for (const [id, answer] of answered) all.set(id, answer)
    from = 10 + Math.max(from, ...[...all.keys()].map((id) => Number(id.split('-')[1])))
    const minds = await openMinds(t, { dir })
    for (const mind of ['mara', 'ben']) {
      const memories = await memoriesOf(minds, mind)
      const steps = memories.flatMap(({ content }) => wellOf(content) ?? [])
      t.equal(new Set(memories.map(({ id }) => id)).size, memories.length, 'no id is doubled')
      t.equal(new Set(steps).size, steps.length, 'no memory is doubled')
      const mine = [...all.keys()].filter((id) => id.startsWith(mind)).map((id) => Number(id.split('-')[1]))
      t.same(
        mine.filter((step) => !steps.includes(step)),
        [],
        'no memory that was answered for is lost',
      )
      const state = await minds.read(`mind://${mind}/state`)
      t.equal(state.daily_memories_count + state.long_term_memory_count, memories.length, 'counts are true')
    }
    const [last = ''] = [...answered.keys()].slice(-1)
    const [mind_id = ''] = last.split('-')
    const again = await minds.call('decide_action', {
      mind_id,
      observation: wellSeen(mind_id, 0),
      request_id: last,
    })
    t.same(again, { ...all.get(last), replayed: true }, 'the last answer is still the answer')
    t.match(
      await minds.call('decide_action', {
        mind_id,
        observation: wellSeen(mind_id, from++),
        request_id: `${mind_id}-${from - 1}`,
      }),
      { status: 'success' },
    )
    all.set(`${mind_id}-${from - 1}`, undefined)
    t.match(await minds.call('consolidate_memories', { mind_id, request_id: `after-${life}` }), {
      status: 'success',
    })
    await minds.app.close()
  }
})
