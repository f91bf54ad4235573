import { legacyVersions } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { foundTool } from '../demo-app.ts'
import { modern, openWire, respond, rpc, toolCall, type Wire } from './open-wire.ts'

const names = (result: { tools: { name: string }[] }): string[] => result.tools.map(({ name }) => name)

const list = (wire: Wire, path: string, era: 'modern' | 'legacy') =>
  respond(wire, { path, era, message: rpc('tools/list') })

t.test(
  'the fast path and the SDK return the same tools/list result on every mount and page size',
  async (t) => {
    for (const env of [{}, { CAUSEWAY_PAGE_SIZE: '2' }]) {
      const dir = t.testdir({ fast: {}, sdk: {} })
      const fast = await openWire(t, { dir: `${dir}/fast`, env })
      const sdk = await openWire(t, { dir: `${dir}/sdk`, env, hasFastPath: false })
      for (const path of fast.core.registry.lists.keys())
        for (const era of ['modern', 'legacy'] as const)
          t.same(await list(fast, path, era), await list(sdk, path, era), `${path} ${era}`)
      await Promise.all([fast.http.close(0), sdk.http.close(0)])
      await Promise.all([fast.core.close(), sdk.core.close()])
    }
  },
)

verifies('wire:list:deterministic', 'every transport lists the same tools in the same order', async (t) => {
  const wire = await openWire(t)
  for (const path of ['/mcp', '/mcp/demo']) {
    const lists = [
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await list(wire, path, 'modern')).result.tools,
      (await list(wire, path, 'legacy')).result.tools,
    ]
    for (const list of lists) t.same(list, lists[0])
  }
})

verifies('wire:list:cache-hints', async (t) => {
  const wire = await openWire(t)
  t.match((await list(wire, '/mcp', 'modern')).result, { ttlMs: 300_000, cacheScope: 'public' })
  t.equal((await list(wire, '/mcp', 'legacy')).result.ttlMs, undefined)
})

verifies('wire:list:pages', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_PAGE_SIZE: '4' } })
  const found: string[] = []
  let cursor: string | undefined
  do {
    const { result } = (await send(rpc('tools/list', cursor === undefined ? {} : { cursor }))).json
    t.ok(result.tools.length <= 4)
    found.push(...names(result))
    cursor = result.nextCursor
  } while (cursor !== undefined)
  t.equal(new Set(found).size, found.length)
  t.ok(found.includes('Wire__work') && found.includes('Demo__echo') && found.includes('Causeway__get_health'))
  const { body, headers } = modern(rpc('tools/list', { cursor: 'made-up' }))
  t.match((await send(body, { headers })).json, { error: { code: -32602, data: { code: 'INVALID_CURSOR' } } })
})

verifies('wire:list:changed', async (t) => {
  const wire = await openWire(t)
  const listen = modern(rpc('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const id = await wire.initialize({ path: '/mcp/demo' })
  const other = await wire.initialize({ path: '/mcp/wire' })
  const open = (path: string, session: string) =>
    wire.stream(undefined, { path, method: 'GET', headers: { 'mcp-session-id': session } })
  const streams = [
    await wire.stream(listen.body, { headers: listen.headers }),
    await wire.stream(listen.body, { path: '/mcp/demo', headers: listen.headers }),
    await open('/mcp/demo', id),
  ]
  const otherMount = await open('/mcp/wire', other)
  // Skips the acknowledgements of the subscriptions.
  for (const stream of streams.slice(0, 2)) await stream.messages.next()
  wire.demo.discovered = [foundTool('late')]
  wire.demo.announce('tools')
  for (const stream of streams)
    t.match((await stream.messages.next()).value, { method: 'notifications/tools/list_changed' })
  t.ok(names((await wire.send(rpc('tools/list'))).json.result).includes('Demo__late'))
  await wire.http.close(1000)
  t.same(
    await otherMount.messages.next(),
    { done: true, value: undefined },
    'clients of another mount are not notified',
  )
})

verifies('wire:name:full', async (t) => {
  const { send } = await openWire(t)
  t.ok(names((await send(rpc('tools/list'))).json.result).includes('Demo__echo'))
  const call = async (name: string) => (await send(toolCall(name, { text: 'x' }))).json
  t.match(await call('Demo__echo'), { result: { structuredContent: { text: 'x' } } })
  t.match(await call('echo'), { error: { code: -32602, data: { code: 'UNKNOWN_TOOL' } } })
})

verifies('wire:name:bare', async (t) => {
  const { send } = await openWire(t)
  const listed = names((await send(rpc('tools/list'), { path: '/mcp/demo' })).json.result)
  t.ok(listed.includes('demo.echo') && listed.includes('count'))
  t.notOk(listed.some((name) => name.includes('__')))
  const call = async (name: string, path: string) =>
    (await send(toolCall(name, { text: 'x' }), { path })).json
  for (const name of ['echo', 'demo.echo'])
    t.match(await call(name, '/mcp/demo'), { result: { structuredContent: { text: 'x' } } })
  t.match(
    await call('identify', '/mcp/demo'),
    { error: { data: { code: 'UNKNOWN_TOOL' } } },
    'a tool of another app',
  )
})

verifies('wire:name:limits', async (t) => {
  const { send } = await openWire(t)
  for (const name of names((await send(rpc('tools/list'))).json.result))
    t.match(name, /^[A-Za-z0-9_-]{1,49}$/)
})

t.test('the fast path rejects the tools/list requests that the SDK rejects', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(rpc('tools/list'))
  const { 'mcp-method': _, ...withoutMethod } = headers
  t.match(await send(body, { headers: withoutMethod }), { status: 400, json: { error: { code: -32020 } } })
  t.match(await send(body, { headers: { ...headers, 'mcp-method': 'tools/call' } }), { status: 400 })
  t.match(await send(body, { headers: { ...headers, 'mcp-protocol-version': legacyVersions[0] } }), {
    status: 400,
  })
  const { _meta } = body.params
  const invalid = {
    ...body,
    params: { _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': 5 } },
  }
  t.match(await send(invalid, { headers }), { status: 400, json: { error: { code: -32602 } } })
})
