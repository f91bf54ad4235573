import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { fromSource } from '../../bridge/test/client.ts'
import { cleanEnv, restartServer, startServer } from '../e2e/server-process.ts'
import type { Channel } from '../requirement.ts'
import { verifies } from '../verifies.ts'

const app = fileURLToPath(new URL('conformance-app.ts', import.meta.url))
const running = await startServer(t, {
  dir: t.testdir(),
  env: { CAUSEWAY_USER_APPS: app, CAUSEWAY_APPS: 'Conformance' },
})
const url = `${running.url}/mcp/conformance`

const eras = { 'a session of 2025-11-25': undefined, '2026-07-28': { pin: '2026-07-28' } } as const
const able = { elicitation: {}, sampling: {}, roots: {} }

/** Connects a client that answers the server requests of its capabilities. */
async function connect(
  t: Test,
  channel: Channel,
  mode: (typeof eras)[keyof typeof eras],
  capabilities: object,
) {
  const client = new Client(
    { name: 'asked', version: '1' },
    { capabilities, ...(mode === undefined ? {} : { versionNegotiation: { mode } }) },
  )
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', async ({ params: { message } }) => ({
      action: 'accept',
      content: { name: `Ada of "${message}"`, ok: true, color: 'blue', context: 'the moon' },
    }))
  if ('sampling' in capabilities)
    client.setRequestHandler('sampling/createMessage', async () => ({
      model: 'test-model',
      role: 'assistant',
      content: { type: 'text', text: 'Good day' },
    }))
  if ('roots' in capabilities)
    client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///home/ada' }] }))
  const env = { ...(cleanEnv() as Record<string, string>), MCP_SERVER_URL: url }
  await client.connect(
    channel === 'bridge'
      ? new StdioClientTransport({ command: process.execPath, args: fromSource, env })
      : new StreamableHTTPClientTransport(new URL(url)),
  )
  t.teardown(() => client.close())
  return client
}

const resultText = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

for (const [era, mode] of Object.entries(eras)) {
  verifies(
    'wire:stream:server-request',
    `a tool and a prompt send requests to the client, in ${era}`,
    async (t, channel) => {
      const client = await connect(t, channel, mode, able)
      const call = async (name: string) => resultText(await client.callTool({ name, arguments: {} }))
      t.equal(await call('test_input_required_result_list_roots'), 'file:///home/ada')
      t.match(await call('test_input_required_result_multiple_inputs'), /Good day.* Ada of .*, 1 roots$/)
      t.match(await call('test_input_required_result_multi_round'), /^Ada of "Step 1.*" likes blue$/)
      t.equal(await call('test_input_required_result_request_state'), 'state-ok')
      t.match(await client.getPrompt({ name: 'test_input_required_result_prompt' }), {
        messages: [{ content: { text: 'Use this context: the moon' } }],
      })
    },
  )
}

t.test('asking: a session without the capabilities gets an error that lists them', async (t) => {
  const client = await connect(t, 'http', undefined, { roots: {} })
  t.match(await client.callTool({ name: 'test_input_required_result_multiple_inputs', arguments: {} }), {
    isError: true,
    _meta: {
      'causeway/error': {
        code: 'CLIENT_CANNOT_ANSWER',
        data: { needs: ['elicitation/create', 'sampling/createMessage'] },
      },
    },
  })
})

t.test('asking: a stateless client without the capability gets -32021', async (t) => {
  const client = await connect(t, 'http', { pin: '2026-07-28' }, {})
  await t.rejects(client.callTool({ name: 'test_missing_capability', arguments: {} }), { code: -32021 })
})

t.test('asking: plain JSON and REST calls get CLIENT_CANNOT_ANSWER', async (t) => {
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${running.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return { status: response.status, json: await response.json() }
  }
  const params = { name: 'test_missing_capability', arguments: {} }
  t.match(await post('/mcp/conformance', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }), {
    json: { result: { isError: true, _meta: { 'causeway/error': { code: 'CLIENT_CANNOT_ANSWER' } } } },
  })
  const prompt = { name: 'test_input_required_result_prompt' }
  t.match(await post('/mcp/conformance', { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: prompt }), {
    json: { error: { data: { code: 'CLIENT_CANNOT_ANSWER', data: { needs: ['elicitation/create'] } } } },
  })
  t.match(await post('/api/apps/conformance/tools/missing_capability', {}), {
    status: 422,
    json: { code: 'CLIENT_CANNOT_ANSWER', data: { needs: ['sampling/createMessage'] } },
  })
})

/** Calls a tool as a 2026-07-28 client without a client library. */
async function rawCall(base: string, name: string, more: object = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': able,
  }
  const response = await fetch(`${base}/mcp/conformance`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {}, _meta, ...more },
    }),
  })
  return (await response.json()) as { result: { requestState: string }; error?: { code: number } }
}

const confirmed = { inputResponses: { confirm: { action: 'accept', content: { ok: true } } } }

t.test('asking: the request state of a call is rejected by another tool', async (t) => {
  const { result } = await rawCall(running.url, 'test_input_required_result_request_state')
  const replayed = await rawCall(running.url, 'test_input_required_result_tampered_state', {
    ...confirmed,
    requestState: result.requestState,
  })
  t.match(replayed, { error: { code: -32602, data: { code: 'INVALID_PARAMS' } } })
})

t.test('asking: a pending request survives a restart of the server', async (t) => {
  const first = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_USER_APPS: app } })
  const { result } = await rawCall(first.url, 'test_input_required_result_request_state')
  const second = await restartServer(t, first)
  const { requestState } = result
  t.match(
    await rawCall(second.url, 'test_input_required_result_request_state', { ...confirmed, requestState }),
    {
      result: { resultType: 'complete', content: [{ text: 'state-ok' }] },
    },
  )
})
