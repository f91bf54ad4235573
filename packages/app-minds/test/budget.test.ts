import { verifies } from '../../../test/verifies.ts'
import { makeBreaker } from '../src/llm/breaker.ts'
import { makeThrottle } from '../src/llm/throttle.ts'
import { decide, makeMind, openMinds } from './minds-kit.ts'
import { type Script, sensible, startScripted } from './provider/scripted-provider.ts'

const price = { in_per_m: 10, out_per_m: 100 }

verifies('minds:model:budget', 'tokens and cost of every attempt, priced by the table', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url, mindsLlmOptions: { price } } })
  await makeMind(minds, 'mara')
  const { telemetry } = await decide(minds, 'mara', 100)
  const cost = (3 * (100 * 10 + 20 * 100)) / 1e6
  t.match(telemetry, {
    provenance: 'metered',
    prompt_tokens: 300,
    completion_tokens: 60,
    total_tokens: 360,
    model_calls: 3,
  })
  t.ok(Math.abs(telemetry.cost - cost) < 1e-12)
  t.match(telemetry.per_step, { memory_query: { prompt_tokens: 100, completion_tokens: 20 } })
  const usage = await minds.read('mind://mara/usage')
  t.match(usage, { calls: 3, prompt_tokens: 300, completion_tokens: 60, unreported_calls: 0 })
})

verifies('minds:model:budget', 'what is not told is unknown, and a told zero is a zero', async (t) => {
  const silent: Script = (request) => ({ message: { content: sensible(request) }, usage: undefined })
  const quiet = await openMinds(t, { settings: { mindsLlmUrl: (await startScripted(t, silent)).url } })
  await makeMind(quiet, 'mara')
  const { telemetry } = await decide(quiet, 'mara', 100)
  t.match(telemetry, { provenance: 'unreported', model_calls: 3, unreported_calls: 3 })
  t.notOk('prompt_tokens' in telemetry || 'cost' in telemetry)
  const zero: Script = (request) => ({
    message: { content: sensible(request) },
    usage: { prompt_tokens: 0, completion_tokens: 0, cost: 0, prompt_tokens_details: { cached_tokens: 0 } },
  })
  const free = await openMinds(t, { settings: { mindsLlmUrl: (await startScripted(t, zero)).url } })
  await makeMind(free, 'mara')
  t.match((await decide(free, 'mara', 100)).telemetry, {
    provenance: 'metered',
    total_tokens: 0,
    cached_prompt_tokens: 0,
    cost: 0,
  })
})

verifies(
  'minds:model:budget',
  'a spent budget makes the policy decide, until the next game day',
  async (t) => {
    const provider = await startScripted(t)
    const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
    await makeMind(minds, 'mara', { budget: { tokens_per_game_day: 360 } })
    t.match(await decide(minds, 'mara', 100), { decided_by: 'llm' })
    const spent = await decide(minds, 'mara', 101)
    t.match(spent, {
      decided_by: 'policy',
      degraded: true,
      fallback_reason: 'budget',
      telemetry: { provenance: 'none' },
    })
    t.match(await decide(minds, 'mara', 1500), { decided_by: 'llm' })
    t.equal(provider.requests.length, 6)
  },
)

verifies('minds:model:budget', 'the budget of the server is that of all minds together', async (t) => {
  const provider = await startScripted(t)
  const options = { budget: { tokens_per_hour: 360 } }
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url, mindsLlmOptions: options } })
  for (const id of ['mara', 'ben']) await makeMind(minds, id)
  t.match(await decide(minds, 'mara', 100), { decided_by: 'llm' })
  t.match(await decide(minds, 'ben', 100), { decided_by: 'policy', fallback_reason: 'budget' })
})

verifies(
  'minds:model:breaker',
  'after five failures in a row it is left alone, and one tries when time has passed',
  async (t) => {
    // Pauses go by the time that passes, and not by the clock.
    const passed = { ms: 0 }
    const { now } = performance
    t.intercept(performance, 'now', { value: () => now.call(performance) + passed.ms })
    const health = { isWell: false }
    const provider = await startScripted(t, (request) =>
      health.isWell ? sensible(request) : { status: 500, raw: '{}' },
    )
    const settings = { mindsLlmUrl: provider.url, mindsLlmOptions: { max_retries: 0 } }
    const minds = await openMinds(t, { settings })
    await makeMind(minds, 'mara')
    for (let n = 0; n < 8; n++)
      t.match(await decide(minds, 'mara', 100 + n), { decided_by: 'policy', fallback_reason: 'LLM_UPSTREAM' })
    t.equal(provider.requests.length, 5)
    const store = minds.app.store as { health(): { llm: unknown } }
    t.match(store.health().llm, { configured: true, circuit: 'open', last_error: 'LLM_UPSTREAM' })
    passed.ms += 30_000
    health.isWell = true
    t.match(await decide(minds, 'mara', 110), { decided_by: 'llm' })
    t.match(store.health().llm, { circuit: 'closed', reachable: true, last_error: null })
  },
)

verifies('minds:model:breaker', 'half open it lets one through at a time', async (t) => {
  const clock = { ms: 0 }
  const breaker = makeBreaker(() => clock.ms)
  for (let n = 0; n < 5; n++) breaker.failed()
  t.equal(breaker.admits(), false)
  clock.ms = 30_000
  t.same([breaker.admits(), breaker.admits()], [true, false])
  breaker.failed()
  t.equal(breaker.state, 'open')
})

verifies('minds:queue', 'calls to a provider have their places, and too many are told at once', async (t) => {
  const throttle = makeThrottle({ max_concurrency: 1, queue: 1 }, () => 0)
  const { signal } = new AbortController()
  const open: { gate: () => void } = { gate: () => {} }
  const closed = new Promise<void>((resolve) => {
    open.gate = resolve
  })
  const first = throttle.run(1, signal, () => closed)
  const second = throttle.run(1, signal, async () => 'second')
  await t.rejects(
    throttle.run(1, signal, async () => 'third'),
    { message: /wait for the provider/ },
  )
  open.gate()
  await first
  t.equal(await second, 'second')
})

verifies('minds:model:gated', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara', { llm_gate: 'on_change' })
  t.match(await decide(minds, 'mara', 100), { decided_by: 'llm' })
  t.match(await decide(minds, 'mara', 103, { needs: { hunger: 21 } }), { decided_by: 'policy', gated: true })
  t.match(
    await decide(minds, 'mara', 106, { needs: { energy: 20 } }),
    { decided_by: 'llm' },
    'a need changed its band',
  )
  t.match(
    await decide(minds, 'mara', 122, { needs: { energy: 20 } }),
    { decided_by: 'llm' },
    'time has passed',
  )
})

verifies('minds:model:salvage', async (t) => {
  const odd: Script = (request) =>
    request.step === 'cognitive_update'
      ? JSON.stringify({
          situation_assessment: 'sound',
          updated_working_memory: 'not an object',
          new_memories: [
            { content: 'sound memory', importance: 99 },
            { importance: 3 },
            'a bare text',
            { content: 'x'.repeat(3000), importance: 2 },
          ],
        })
      : request.step === 'action_selection'
        ? '{"chosen_action": {"action": "fly"}}'
        : sensible(request)
  const provider = await startScripted(t, odd)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara')
  t.match(await decide(minds, 'mara', 100), { decided_by: 'policy', fallback_reason: 'LLM_INVALID_OUTPUT' })
  t.match(await minds.read('mind://mara/working_memory'), { situation_assessment: 'sound' })
  const daily: { content: string; importance: number }[] = await minds.read('mind://mara/daily_memories')
  const contents = daily.map(({ content }) => content)
  t.ok(contents.includes('sound memory') && contents.includes('a bare text'))
  t.equal(daily.find(({ content }) => content === 'sound memory')?.importance, 10)
  const long = contents.find((one) => one.startsWith('xxx'))
  t.equal(long?.length, 2000)
  t.match(long, /\[…\]$/)
})

verifies('minds:model:salvage', 'an empty state of mind never replaces one that is not', async (t) => {
  const empty: Script = (request) =>
    request.step === 'cognitive_update'
      ? '{"updated_working_memory": {}, "new_memories": []}'
      : sensible(request)
  const provider = await startScripted(t, empty)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara', { initial_working_memory: { situation_assessment: 'I guard the gate.' } })
  t.match(await decide(minds, 'mara', 100), { decided_by: 'llm' })
  t.match(await minds.read('mind://mara/working_memory'), { situation_assessment: 'I guard the gate.' })
})

verifies('minds:decided-by', 'two calls where steps are merged and searches need no model', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara', { pipeline: 'merged', memory_query: 'heuristic' })
  t.match(await decide(minds, 'mara', 100), { decided_by: 'llm', telemetry: { model_calls: 1 } })
  t.same(
    provider.requests.map(({ step }) => step),
    ['reflection'],
  )
  await makeMind(minds, 'ben', { selector: 'policy' })
  t.match(await decide(minds, 'ben', 100), { decided_by: 'policy' })
  t.notOk('degraded' in (await decide(minds, 'ben', 101)), 'a policy that was wanted does not stand in')
})
