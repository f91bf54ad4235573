import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { ChatModel } from '../src/llm/chat-model.ts'
import { type Provider, readProviders } from '../src/llm/provider.ts'
import { type Data, decide, makeMind, openMinds } from './minds-kit.ts'
import {
  createValidAnswer,
  type Reply,
  type Script,
  type SeenRequest,
  startScripted,
} from './provider/scripted-provider.ts'

const secret = 'sk-or-very-secret-0123456789'
const shortTimeouts = { timeout_ms: 250, decision_ms: 900, connect_timeout_ms: 200 }
/** Long enough that an immediate invalid answer never causes a timeout, even on a slow machine. */
const longTimeouts = { timeout_ms: 4000, decision_ms: 5000, connect_timeout_ms: 4000 }
const timeoutCases = new Set(['no response headers', 'an endless body'])

async function openScriptedMind(
  t: Test,
  script: Script,
  config: object = {},
  timeouts: object = longTimeouts,
) {
  const provider = await startScripted(t, script)
  const lines: unknown[] = []
  const write = (fields: object, message: string) => void lines.push([fields, message])
  const log = { debug: write, info: write, warn: write, error: write }
  const settings = {
    mindsLlmUrl: provider.url,
    mindsLlmKey: secret,
    mindsLlmOptions: { ...shortTimeouts, ...timeouts },
  }
  const minds = await openMinds(t, { settings, log })
  await makeMind(minds, 'mara', config)
  return { provider, minds, lines }
}

const sendEndlessBody = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(timer))
}
const toAnswer = (action: unknown): string => JSON.stringify({ chosen_action: action })
/** Answers the action question with this script and all other steps with valid answers. */
const answerActionStep =
  (reply: (request: SeenRequest) => Reply): Script =>
  (request) =>
    request.step === 'action_selection' ? reply(request) : createValidAnswer(request)

/** Failures of transport or HTTP status, with the expected error codes. */
const failures: Readonly<Record<string, readonly [Script, string]>> = {
  'status 400': [() => ({ status: 400, raw: '{}' }), 'LLM_BAD_REQUEST'],
  'status 401 with the API key in its message': [
    ({ headers }) => ({
      status: 401,
      raw: JSON.stringify({ error: { message: `bad key ${headers.authorization}` } }),
    }),
    'LLM_AUTH',
  ],
  'status 402': [() => ({ status: 402, raw: '{}' }), 'LLM_CREDITS'],
  'status 404': [() => ({ status: 404, raw: '{}' }), 'LLM_MODEL_NOT_FOUND'],
  'status 408': [() => ({ status: 408, raw: '{}' }), 'LLM_TIMEOUT'],
  'status 429 with Retry-After in seconds': [
    () => ({ status: 429, headers: { 'retry-after': '1' }, raw: '{}' }),
    'LLM_RATE_LIMITED',
  ],
  'status 429 with Retry-After as a date': [
    () => ({
      status: 429,
      headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() },
      raw: '{}',
    }),
    'LLM_RATE_LIMITED',
  ],
  'status 429 with Retry-After of three years': [
    () => ({ status: 429, headers: { 'retry-after': '99999999' }, raw: '{}' }),
    'LLM_RATE_LIMITED',
  ],
  'status 429 without Retry-After': [() => ({ status: 429, raw: '{}' }), 'LLM_RATE_LIMITED'],
  'status 500': [() => ({ status: 500, raw: '{}' }), 'LLM_UPSTREAM'],
  'status 502 with an HTML body': [
    () => ({ status: 502, headers: { 'content-type': 'text/html' }, raw: '<html>Bad Gateway</html>' }),
    'LLM_UPSTREAM',
  ],
  'status 503 with an empty body': [() => ({ status: 503, raw: '' }), 'LLM_UPSTREAM'],
  'status 200 with an error object': [
    () => ({ raw: JSON.stringify({ error: { code: 502, message: 'upstream' } }) }),
    'LLM_UPSTREAM',
  ],
  "finish reason 'error'": [() => ({ message: { content: null }, finish: 'error' }), 'LLM_UPSTREAM'],
  'a body that is not JSON': [() => ({ raw: 'oops' }), 'LLM_UPSTREAM'],
  'a body larger than 1 MB': [() => ({ raw: `{"x":"${'y'.repeat(1_100_000)}"}` }), 'LLM_UPSTREAM'],
  'no response headers': [() => ({ take: () => {} }), 'LLM_TIMEOUT'],
  'an endless body': [() => ({ take: sendEndlessBody }), 'LLM_TIMEOUT'],
  'a connection closed within the body': [
    () => ({
      take: (response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"choices":')
        setImmediate(() => response.destroy())
      },
    }),
    'LLM_UPSTREAM',
  ],
  'a Content-Length larger than the body': [
    () => ({
      take: (response) => {
        response.socket?.end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"choices":[]}',
        )
      },
    }),
    'LLM_UPSTREAM',
  ],
  'a refusal': [() => ({ message: { content: null, refusal: 'I cannot' } }), 'LLM_REFUSED'],
  'an unknown action in each answer': [
    answerActionStep(() => toAnswer({ action: 'fly', parameters: {} })),
    'LLM_INVALID_OUTPUT',
  ],
  'an unknown entity in each answer': [
    answerActionStep(() =>
      toAnswer({ action: 'interact_with', parameters: { entity_id: 'dragon', interaction_name: 'eat' } }),
    ),
    'LLM_INVALID_OUTPUT',
  ],
  'a missing parameter in each answer': [
    answerActionStep(() => toAnswer({ action: 'move_to', parameters: {} })),
    'LLM_INVALID_OUTPUT',
  ],
  'only empty answers': [answerActionStep(() => ''), 'LLM_INVALID_OUTPUT'],
  'only prose': [answerActionStep(() => 'I would rather not say.'), 'LLM_INVALID_OUTPUT'],
  'only truncated answers': [
    answerActionStep(() => ({ message: { content: '{"chosen_action": {"acti' }, finish: 'length' })),
    'LLM_TRUNCATED',
  ],
}

for (const [name, [script, code]] of sample(Object.entries(failures), 6))
  verifies('minds:model:hostile', `${name}: the policy decides instead and reports the reason`, async (t) => {
    const { provider, minds, lines } = await openScriptedMind(
      t,
      script,
      {},
      timeoutCases.has(name) ? {} : longTimeouts,
    )
    const answer: Data = await decide(minds, 'mara', 100)
    t.match(answer, {
      status: 'success',
      decided_by: 'policy',
      degraded: true,
      fallback_reason: code,
      action: { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'eat' } },
      telemetry: { model: 'causeway-policy/1', model_calls: provider.requests.length },
    })
    t.ok(provider.requests.length <= 12, `${provider.requests.length} calls`)
    const outputs = JSON.stringify([
      answer,
      lines,
      await minds.call('explain_decision', { mind_id: 'mara' }),
      await minds.read('mind://mara/usage'),
    ])
    t.notOk(outputs.includes(secret), 'does not expose the API key')
  })

const acceptedAnswers: Readonly<Record<string, Script>> = {
  'a code fence within a JSON string': (request) =>
    request.step === 'action_selection'
      ? createValidAnswer(request).replace('{', '{"reasoning":"I saw ```js\\n{}``` here",')
      : createValidAnswer(request),
  'a code fence within a JSON string after prose': (request) =>
    request.step === 'action_selection'
      ? `Sure: ${createValidAnswer(request).replace('{', '{"reasoning":"I saw ```js\\n{}``` here",')}`
      : createValidAnswer(request),
  'JSON in a code fence': (request) => `\`\`\`json\n${createValidAnswer(request)}\n\`\`\``,
  'JSON between prose': (request) =>
    `Sure! Here it is:\n${createValidAnswer(request)}\nI hope this helps {friend}.`,
  'JSON with a trailing comma': (request) => createValidAnswer(request).replace(/\}$/, ',}'),
  'JSON with single quotes': (request) => createValidAnswer(request).replaceAll('"', "'"),
  'content as a list of parts': (request) => ({
    message: { content: [{ type: 'text', text: createValidAnswer(request) }] },
  }),
  'a tool call': (request) => ({
    message: {
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'answer', arguments: createValidAnswer(request) } }],
    },
  }),
  'an event stream': (request) => ({
    headers: { 'content-type': 'text/event-stream' },
    raw: `: hello\n\n${[createValidAnswer(request).slice(0, 20), createValidAnswer(request).slice(20)]
      .map(
        (content) =>
          `data: ${JSON.stringify({ model: 'scripted-model', choices: [{ delta: { content } }] })}\n\n`,
      )
      .join(
        '',
      )}data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: 5 } })}\n\ndata: [DONE]\n\n`,
  }),
  'an answer after 60 ms': (request) => ({
    take: (response) => {
      const body = JSON.stringify({
        model: 'scripted-model',
        choices: [{ message: { content: createValidAnswer(request) }, finish_reason: 'stop' }],
      })
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), 60)
    },
  }),
  'an unknown action in the first answer': (request) =>
    request.step === 'action_selection' && request.nth === 0
      ? toAnswer({ action: 'dance' })
      : createValidAnswer(request),
  'a truncated first answer': (request) =>
    request.step === 'action_selection' && request.nth === 0
      ? { message: { content: '{"chosen_action": {"action": "int' }, finish: 'length' }
      : createValidAnswer(request),
  'names in capital letters': answerActionStep(() =>
    toAnswer({ action: 'INTERACT_WITH', parameters: { entity_id: 'Stove', interaction_name: 'EAT' } }),
  ),
  'null for an omitted parameter': answerActionStep(() =>
    toAnswer({
      action: 'interact_with',
      parameters: { entity_id: 'stove_2', interaction_name: 'eat', destination: null },
    }),
  ),
}

for (const [name, script] of sample(Object.entries(acceptedAnswers), 6))
  verifies('minds:model:hostile', `${name}: the model still decides`, async (t) => {
    const { minds } = await openScriptedMind(t, script)
    const answer = await decide(minds, 'mara', 100)
    t.match(answer, {
      decided_by: 'llm',
      action: { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'eat' } },
    })
    t.notOk('degraded' in answer || 'fallback_reason' in answer)
  })

verifies(
  'minds:model:hostile',
  'a correction request contains the previous answer and its problems',
  async (t) => {
    const script: Script = (request) =>
      request.step === 'action_selection' && request.nth === 0
        ? toAnswer({ action: 'interact_with', parameters: { entity_id: 'dragon' } })
        : createValidAnswer(request)
    const { provider, minds } = await openScriptedMind(t, script)
    await decide(minds, 'mara', 100)
    const [, first, second] = [
      undefined,
      ...provider.requests.filter(({ step }) => step === 'action_selection'),
    ]
    t.equal(first?.body.messages.length, 2)
    t.equal(second?.body.messages.length, 4)
    t.match(second?.body.messages[2], { role: 'assistant', content: /dragon/ })
    t.match(second?.body.messages[3], { role: 'user', content: /"dragon".*stove_2/ })
  },
)

verifies('minds:model:hostile', 'a truncated answer is requested again with twice the tokens', async (t) => {
  const script: Script = (request) =>
    request.step === 'action_selection' && request.nth === 0
      ? { message: { content: '{' }, finish: 'length' }
      : createValidAnswer(request)
  const { provider, minds } = await openScriptedMind(t, script)
  await decide(minds, 'mara', 100)
  const tokenLimits = provider.requests
    .filter(({ step }) => step === 'action_selection')
    .map(({ body }) => body.max_tokens)
  t.same(tokenLimits, [1024, 2048])
})

verifies(
  'minds:model:hostile',
  'a server that does not support schemas gets a simpler response format',
  async (t) => {
    const script: Script = (request) =>
      request.body.response_format === undefined ? createValidAnswer(request) : { status: 400, raw: '{}' }
    const { provider, minds } = await openScriptedMind(t, script)
    t.match(await decide(minds, 'mara', 100), { decided_by: 'llm' })
    t.same(
      provider.requests.slice(0, 3).map(({ body }) => body.response_format?.type),
      ['json_schema', 'json_object', undefined],
    )
  },
)

verifies(
  'minds:model:hostile',
  'a request that fails in every format does not disable schemas',
  async (t) => {
    let isAccepting = false
    const script: Script = (request) =>
      isAccepting ? createValidAnswer(request) : { status: 400, raw: '{}' }
    const { provider, minds } = await openScriptedMind(t, script)
    t.match(await decide(minds, 'mara', 100), { fallback_reason: 'LLM_BAD_REQUEST' })
    const failedCount = provider.requests.length
    isAccepting = true
    t.match(await decide(minds, 'mara', 200), { decided_by: 'llm' })
    const formats = provider.requests.slice(failedCount).map(({ body }) => body.response_format?.type)
    t.same([...new Set(formats)], ['json_schema'])
  },
)

verifies('minds:model:secret', 'the API key is sent only to the provider', async (t) => {
  const { provider, minds, lines } = await openScriptedMind(t, createValidAnswer)
  const answer = await decide(minds, 'mara', 100, { explain: true })
  t.equal(provider.requests[0]?.headers.authorization, `Bearer ${secret}`)
  const outputs = JSON.stringify([
    answer,
    lines,
    (minds.app.store as { health(): unknown }).health(),
    await minds.read('mind://mara/state'),
    await minds.read('mind://mara/last_decision'),
    provider.requests.map(({ body }) => body),
  ])
  t.notOk(outputs.includes(secret))
})

t.test("on_llm_failure 'wait' makes the mind wait, and 'error' makes decide_action throw", async (t) => {
  const failing: Script = () => ({ status: 500, raw: '{}' })
  const waiting = await openScriptedMind(t, failing, { on_llm_failure: 'wait' })
  t.match(await decide(waiting.minds, 'mara', 100), {
    decided_by: 'policy',
    degraded: true,
    fallback_reason: 'LLM_UPSTREAM',
    action: { action: 'wait', parameters: {} },
  })
  const failingMinds = await openScriptedMind(t, failing, { on_llm_failure: 'error' })
  await t.rejects(decide(failingMinds.minds, 'mara', 100), { code: 'LLM_UPSTREAM' })
  t.match(await failingMinds.minds.read('mind://mara/last_decision'), {
    status: 'error',
    action: null,
    error_code: 'LLM_UPSTREAM',
  })
})

/** Opens a model whose answers name the format of the request, unless `refuses` returns `true`. */
async function openFormatModel(t: Test, refuses: (format: string, nth: number) => boolean) {
  const script: Script = ({ nth, body }) => {
    const format = body.response_format?.type ?? 'none'
    return refuses(format, nth) ? { status: 400, raw: '{}' } : `{"format":"${format}"}`
  }
  const { url } = await startScripted(t, script)
  const provider = readProviders({ mindsLlmUrl: url }).defaultProvider as Provider
  const clock = { ms: 0 }
  const model = new ChatModel(provider, { now: () => clock.ms, random: () => 0 })
  t.teardown(() => model.close())
  const send = async (maxCalls = 9): Promise<string> => {
    let calls = 0
    const { text } = await model.send({
      step: 'step',
      attempt: 0,
      model: 'm',
      messages: [],
      maxTokens: 10,
      temperature: 0,
      seed: undefined,
      user: 'u',
      schema: {} as never,
      signal: new AbortController().signal,
      deadline: 1e9,
      record: () => {},
      canCall: () => calls++ < maxCalls,
    })
    return JSON.parse(text).format
  }
  return { send, clock }
}

t.test('schemas are requested again ten minutes after one was refused', async (t) => {
  const { send, clock } = await openFormatModel(t, (_, nth) => nth === 0)
  t.same([await send(), await send()], ['json_object', 'json_object'])
  clock.ms += 10 * 60_000
  t.equal(await send(), 'json_schema')
})

t.test('decisions limited to one call use the format that earlier decisions determined', async (t) => {
  const { send } = await openFormatModel(t, (format) => format !== 'none')
  await t.rejects(send(1), { code: 'LLM_BAD_REQUEST' })
  await t.rejects(send(1), { code: 'LLM_BAD_REQUEST' })
  t.equal(await send(1), 'none')
})

t.test('a request that is refused in every format does not change the format', async (t) => {
  const { send } = await openFormatModel(t, (_, nth) => nth < 3)
  await t.rejects(send(), { code: 'LLM_BAD_REQUEST' })
  t.equal(await send(), 'json_schema')
})
