import { setTimeout as pause } from 'node:timers/promises'
import { verifies } from '../../../test/verifies.ts'
import { decide, makeMind, openMinds } from './minds-kit.ts'
import { type Script, sensible, startScripted } from './provider/scripted-provider.ts'

/** A provider that takes its time, so that calls meet a decision under way. */
const slow: Script = (request) => ({
  take: (response) => {
    const choices = [{ message: { content: sensible(request) }, finish_reason: 'stop' }]
    void pause(40).then(() => response.writeHead(200).end(JSON.stringify({ model: 'scripted', choices })))
  },
})

verifies(
  'minds:life',
  'what is released or forgotten finishes what it began, and begins nothing more',
  async (t) => {
    const provider = await startScripted(t, slow)
    const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
    for (const [tool, status] of [
      ['cleanup_mind', 'removed'],
      ['forget_mind', 'forgotten'],
    ] as const) {
      await makeMind(minds, tool)
      const [begun, ended, late, asleep] = await Promise.allSettled([
        decide(minds, tool, 100),
        minds.call(tool, { mind_id: tool }),
        decide(minds, tool, 101),
        minds.call('consolidate_memories', { mind_id: tool }),
      ])
      t.match(begun, { status: 'fulfilled', value: { status: 'success', decided_by: 'llm' } })
      t.match(ended, { status: 'fulfilled', value: { status } })
      t.match(late, { status: 'rejected', reason: { code: 'MIND_NOT_FOUND' } })
      t.match(asleep, { status: 'rejected', reason: { code: 'MIND_NOT_FOUND' } })
    }
  },
)

verifies('minds:parallel', 'a decision, a sleep and a question meet without losing anything', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const wells = (n: number) => [
    { entity_id: `well_${n}`, display_name: `Well ${n}`, position: [13, 7], interactions: { drink: {} } },
  ]
  const all = Array.from({ length: 60 }, (_, n) => n)
  const answers = await Promise.all(
    all.flatMap((n): Promise<{ readonly status?: string; readonly summary?: string }>[] => [
      decide(minds, 'mara', 100 + n, { entities: wells(n), needs: { hunger: 90 }, request_id: `d${n}` }),
      minds.call('recall_memories', { mind_id: 'mara', query: `Well ${n} drink` }),
      ...(n % 7 === 0 ? [minds.call('consolidate_memories', { mind_id: 'mara', request_id: `s${n}` })] : []),
    ]),
  )
  t.ok(answers.every(({ status, summary }) => status === 'success' || summary !== undefined))
  for (const when of ['by day', 'after a sleep']) {
    for (const n of [0, 21, 31, 59])
      t.match(
        await minds.call('recall_memories', { mind_id: 'mara', query: `Well ${n} drink`, k: 1 }),
        { memories: [{ content: `I saw Well ${n} at (13, 7), where one can drink.` }] },
        when,
      )
    await minds.call('consolidate_memories', { mind_id: 'mara' })
  }
  t.equal((await minds.read('mind://mara/memories?limit=1000')).length, 60)
})
