import t from 'tap'
import { decide, makeMind, openMinds } from './minds-kit.ts'
import { type Script, sensible, startScripted } from './provider/scripted-provider.ts'

t.test('model: four steps over HTTP end in an action of the model', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url, mindsLlmKey: 'sk-secret' } })
  t.match(await makeMind(minds, 'mara'), { selector_effective: 'llm' })
  const answer = await decide(minds, 'mara', 100)
  t.match(answer, {
    status: 'success',
    decided_by: 'llm',
    action: { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'eat' } },
    telemetry: { provenance: 'metered', model: 'scripted-model', model_calls: 3, total_tokens: 360 },
  })
  t.notOk('degraded' in answer)
  t.same(
    provider.requests.map(({ step }) => step),
    ['memory_query', 'cognitive_update', 'action_selection'],
  )
  t.match(provider.requests[2]?.state, /stove_2/)
  t.match(provider.requests[2]?.state, /interact_with \{entity_id: stove_2, interaction_name: eat\}/)
  t.match(await minds.read('mind://mara/daily_memories'), [
    { content: 'Scripted memory at 100', timestamp: 100 },
  ])
})

const retried: Script = (request) => (request.nth === 0 ? { status: 503 } : sensible(request))
t.test('model: a failure that passes is tried again', async (t) => {
  const provider = await startScripted(t, retried)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara')
  t.match(await decide(minds, 'mara', 100), {
    decided_by: 'llm',
    telemetry: { model_calls: 6, unreported_calls: 3 },
  })
})
