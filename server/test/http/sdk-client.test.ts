/** The official SDK clients, v1 and v2 in each of its modes: what they make of our answers. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { foundTool } from '../demo-app.ts'
import { openWire, until } from './open-wire.ts'

/** What every client is asked to do, in one tongue. */
interface AnyClient {
  readonly names: () => Promise<string[]>
  readonly call: (
    name: string,
    args?: Record<string, unknown>,
    options?: { onprogress?: (progress: { progress: number }) => void; signal?: AbortSignal },
  ) => Promise<Record<string, unknown>>
  readonly read: (uri: string) => Promise<unknown>
  readonly prompt: (name: string, args: Record<string, string>) => Promise<unknown>
  readonly onToolsChanged: (listener: () => void) => Promise<void>
}

const info = { name: 'sdk', version: '1' }

async function v1(t: Test, url: string): Promise<AnyClient> {
  const client = new ClientV1(info)
  // The types of v1 do not know exactOptionalPropertyTypes.
  await client.connect(new TransportV1(new URL(url)) as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async onToolsChanged(listener) {
      client.setNotificationHandler(ToolListChangedNotificationSchema, listener)
    },
  }
}

type Mode = 'legacy' | 'auto' | { readonly pin: string }

async function v2(t: Test, url: string, mode?: Mode): Promise<AnyClient> {
  const listeners: (() => void)[] = []
  const client = new Client(info, {
    ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
    listChanged: {
      tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listeners.forEach((tell) => void tell()) },
    },
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async onToolsChanged(listener) {
      listeners.push(listener)
    },
  }
}

const clients: Readonly<Record<string, (t: Test, url: string) => Promise<AnyClient>>> = {
  v1,
  'v2 by default': (t, url) => v2(t, url),
  'v2 auto': (t, url) => v2(t, url, 'auto'),
  'v2 pinned to 2026-07-28': (t, url) => v2(t, url, { pin: '2026-07-28' }),
}

for (const [name, connect] of Object.entries(clients)) {
  t.test(`SDK client ${name}: lists, calls, reads, gets prompts`, async (t) => {
    const { http } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    t.ok((await client.names()).includes('Demo__echo'))
    t.match(await client.call('Demo__echo', { text: 'hi' }), {
      structuredContent: { text: 'hi', client: 'sdk' },
    })
    t.match(await client.call('Demo__picture'), {
      structuredContent: { value: null },
      content: [{}, { type: 'image' }],
    })
    t.match(await client.read('demo://notes/a'), { contents: [{ text: '{"id":"a"}' }] })
    t.match(await client.prompt('Demo__greet', { who: 'Ada' }), { messages: [{ role: 'user' }] })
  })

  verifies('wire:error:sdk-clients', `SDK client ${name} lists, then fails`, async (t) => {
    const { http } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    await client.names()
    const failed = await client.call('Demo__fail', { code: 'NO_RECORDING' })
    t.match(failed, {
      isError: true,
      content: [{ type: 'text', text: /^NO_RECORDING: no recording loaded; / }],
      _meta: { 'causeway/error': { code: 'NO_RECORDING', retryable: false, data: { hint: 1 } } },
    })
    t.equal(failed.structuredContent, undefined)
    t.match(await client.call('Demo__echo', { txt: 1 }), { isError: true })
    t.match(await client.call('Demo__fail', { code: 'accident' }), { isError: true })
  })

  t.test(`SDK client ${name}: an unknown tool and a missing resource are errors with a number`, async (t) => {
    const { http } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    await t.rejects(client.call('Demo__nothing'), { code: -32602 })
    const number = /pinned|auto/.test(name) ? -32602 : -32002
    await t.rejects(client.read('demo://nothing/here'), { code: number })
  })

  t.test(`SDK client ${name}: hears progress, and its cancelling reaches the handler`, async (t) => {
    const { http, wire } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    const heard: number[] = []
    const call = client.call(
      'Wire__work',
      { steps: 3 },
      { onprogress: ({ progress }) => heard.push(progress) },
    )
    await until(() => heard.length === 3)
    wire.release()
    t.match(await call, { structuredContent: { steps: 3 } })
    t.same(heard, [1, 2, 3])

    const cancel = new AbortController()
    const cancelled = client.call('Wire__work', { steps: 0 }, { signal: cancel.signal })
    await until(() => wire.begun.length === 2)
    cancel.abort()
    await t.rejects(cancelled)
    await until(() => wire.begun[1]?.aborted === true)
  })

  t.test(`SDK client ${name}: is told that the list of tools changed`, async (t) => {
    const { http, demo } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    let told = 0
    let round = 0
    await client.onToolsChanged(() => told++)
    // A client opens its stream behind its caller's back: a change before that is one that it does not hear of.
    await until(() => {
      demo.discovered = [foundTool(`late${round++}`)]
      demo.announce('tools')
      return told > 0
    })
    t.ok((await client.names()).some((listed) => listed.startsWith('Demo__late')))
  })
}
