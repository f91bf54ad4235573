import { defineApp } from '@causeway/app-kit'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { listBuiltInApps } from '../../src/apps.ts'
import { coreMount, type Mount, sharedMount } from '../../src/registry/mount.ts'
import { buildMountLists } from '../../src/registry/mount-lists.ts'
import { demoApp } from '../demo-app.ts'
import { openWire, respond, rpc, toolCall } from '../http/open-wire.ts'
import { captureLog, openTestCore, toolNames } from '../test-core.ts'

const profiles = { small: ['Demo__e*', 'Wire'], find: ['Causeway__find_*'] }

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const listBuiltIn = (mount: Mount) =>
  buildMountLists(
    mount,
    listBuiltInApps().map((app) => ({
      instance: { app, path: app.name.toLowerCase(), store: undefined, failure: undefined },
      tools: app.tools,
    })),
    { ttlMs: 1, pageSize: 1000 },
  )

/** An app whose tools have long listings. */
const largeApp = (count: number, name = 'Large') =>
  defineApp({ name, about: 'Has long listings.', open: () => ({}), session: () => ({}) }, (app) => {
    for (let index = 0; index < count; index += 1)
      app.tool(`tool_${index}`, {
        about: `Fill the list. ${'x'.repeat(900)}`,
        input: {},
        output: {},
        isCore: true,
        alwaysLoad: true,
        example: { args: {} },
        run: () => ({}),
      })
  })

verifies('view:full', async (t) => {
  const { tools } = listBuiltIn(sharedMount)
  const marked = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true)
  t.ok(marked.length > 0 && marked.length <= 6, `${marked.length} tools`)
  t.equal(new Set(marked.map(({ name }) => name.split('__')[0])).size, marked.length, 'one of each app')
  const hinted = tools.filter(({ _meta }) => typeof _meta?.['anthropic/searchHint'] === 'string')
  t.comment(`${hinted.length} of ${tools.length} tools have a search hint`)
  t.ok(hinted.length > tools.length * 0.9)
  for (const tool of tools) t.ok(bytes(tool) <= 2000, `${tool.name}: ${bytes(tool)} bytes`)
  for (const { name } of listBuiltInApps()) {
    const size = tools
      .filter((tool) => tool.name.startsWith(`${name}__`))
      .reduce((sum, tool) => sum + bytes(tool), 0)
    t.ok(size <= 25_000, `${name}: ${size} bytes`)
  }
})

verifies(
  'view:full',
  'a hint that does not fit is left out, and no more than 6 tools are marked',
  async (t) => {
    const app = largeApp(19)
    const tools = app.tools.map((tool) => ({ ...tool, searchHint: 'y'.repeat(200) }))
    const instance = { app, path: 'large', store: undefined, failure: undefined }
    const lists = buildMountLists(sharedMount, [{ instance, tools }], { ttlMs: 1, pageSize: 1000 })
    t.ok(lists.tools.reduce((sum, tool) => sum + bytes(tool), 0) <= 25_000)
    t.match(lists.tools[0]?._meta, { 'anthropic/alwaysLoad': true, 'anthropic/searchHint': /^y+$/ })
    t.equal(lists.tools.at(-1)?._meta, undefined)
    t.equal(lists.tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true).length, 6)
  },
)

verifies('view:core', async (t) => {
  const { tools, omitted } = listBuiltIn(coreMount)
  const names = tools.map(({ name }) => name)
  t.comment(`${tools.length} tools, ${bytes(tools)} bytes`)
  t.ok(tools.length <= 20 && bytes(tools) <= 16_000)
  t.ok(tools.length <= 14 && bytes(tools) <= 12_000, 'there is room for tools of hosted servers')
  for (const name of ['find_tools', 'describe_tool', 'call_read_tool', 'call_tool'])
    t.ok(names.includes(`Causeway__${name}`), name)
  t.same(omitted, [])
  t.ok(tools.every(({ outputSchema }) => outputSchema === undefined))
  // Widgets remain, because clients that limit the number of tools also show them.
  t.ok(tools.every(({ _meta = {} }) => Object.keys(_meta).every((key) => key.startsWith('ui'))))
})

verifies('view:core', 'both eras receive the same list, which other requests do not change', async (t) => {
  const wire = await openWire(t, { apps: [largeApp(1)] })
  const list = async (era: 'modern' | 'legacy') =>
    (await respond(wire, { path: '/mcp/core', era, message: rpc('tools/list') })).result.tools
  const before = await list('legacy')
  await wire.send(toolCall('Causeway__find_tools', { query: 'echo' }), { path: '/mcp/core' })
  t.same(await list('modern'), before)
  t.same(await list('legacy'), before)
  t.ok(before.some(({ name }: { name: string }) => name === 'Large__tool_0'))
  t.notOk(before.some(({ name }: { name: string }) => name.startsWith('Demo__')))
  t.notOk(
    toolNames(wire.core).includes('Causeway__find_tools'),
    'the full list leaves the finding to its client',
  )
})

verifies('view:core:no-room', async (t) => {
  const { log, lines } = captureLog()
  const core = await openTestCore(t, [largeApp(30)], { log })
  const listed = core.registry.getLists(coreMount)
  t.ok(listed.tools.length <= 20 && bytes(listed.tools) <= 16_000)
  t.equal(listed.tools.length + listed.omitted.length, 34)
  t.ok(listed.toolByName.has('Large__tool_29'))
  const warnings = () => lines.filter(({ msg }) => msg === 'the view has no room for these tools')
  t.match(warnings(), [{ mount: '/mcp/core', omitted: listed.omitted }])
  await core.registry.refresh()
  t.equal(warnings().length, 1, 'a refresh without a change does not repeat it')
})

verifies('view:profile', async (t) => {
  const wire = await openWire(t, { profiles: () => profiles })
  for (const era of ['modern', 'legacy'] as const) {
    const list = async (path: string): Promise<string[]> =>
      (await respond(wire, { path, era, message: rpc('tools/list') })).result.tools.map(
        ({ name }: { name: string }) => name,
      )
    const small = await list('/mcp/p/small')
    t.ok(small.includes('Demo__echo') && small.includes('Wire__work'))
    t.ok(small.every((name) => /^(Demo__e|Wire__)/.test(name)))
    t.same(await list('/mcp/p/find'), ['Causeway__find_tools'])
  }
  const missing = await wire.send(rpc('tools/list'), { path: '/mcp/p/absent' })
  t.equal(missing.status, 404)
  t.match(missing.json, { error: { data: { code: 'ROUTE_NOT_FOUND' } } })
  t.ok(missing.json.error.data.data.mounts.includes('/mcp/p/small'))
  t.equal((await wire.send(undefined, { path: '/sse/p/absent', method: 'GET' })).status, 404)
})

verifies('view:profile', 'clients of a profile are notified when its list changes', async (t) => {
  let patterns = ['Demo__echo']
  const core = await openTestCore(t, [demoApp().app], { profiles: () => ({ mine: patterns }) })
  const changed: string[] = []
  core.events.on('changed', (change) => {
    if ('list' in change) changed.push(change.mount.path)
  })
  patterns = ['Demo__count']
  await core.registry.refresh()
  t.same(changed, ['/mcp/p/mine'])
  t.same(toolNames(core, '/mcp/p/mine'), ['Demo__count'])
})

verifies('view:callable', async (t) => {
  const wire = await openWire(t, { profiles: () => profiles })
  for (const path of ['/mcp', '/mcp/core', '/mcp/p/find'])
    for (const era of ['modern', 'legacy'] as const) {
      const { result } = await respond(wire, { path, era, message: toolCall('Demo__echo', { text: 'x' }) })
      t.match(result, { structuredContent: { text: 'x' } }, `${path} ${era}`)
    }
  const { json } = await wire.send(rpc('prompts/list'), { path: '/mcp/core' })
  t.match(json.result.prompts, [{ name: 'Demo__greet' }], 'views have the same prompts')
})

verifies('view:reserved', async (t) => {
  const core = await openTestCore(t, [demoApp({ name: 'Core', scheme: 'core' }).app, demoApp().app])
  const { apps } = await core.health()
  t.match(apps, { Core: { status: 'failed', reason: 'INVALID_APP' }, Demo: { status: 'ok' } })
  t.ok(toolNames(core, '/mcp/core').includes('Causeway__call_tool'))
})

verifies('view:instructions', async (t) => {
  for (const mount of [sharedMount, coreMount]) {
    const { instructions } = listBuiltIn(mount).description
    t.ok(Buffer.byteLength(instructions) <= 2000, `${mount.path}: ${Buffer.byteLength(instructions)} bytes`)
    for (const { name } of listBuiltInApps()) t.match(instructions, new RegExp(`^${name}: `, 'm'))
  }
  t.match(listBuiltIn(coreMount).description.instructions, /^This list .* Causeway__find_tools/)
})

t.test(
  'instructions of many apps are shortened to the limit, but complete on the mount of each app',
  async (t) => {
    const about = 'x'.repeat(300)
    const apps = Array.from({ length: 20 }, (_, index) =>
      defineApp({ name: `App${index}`, about, open: () => ({}), session: () => ({}) }, () => {}),
    )
    const core = await openTestCore(t, apps)
    const { instructions } = core.registry.getLists(sharedMount).description
    t.ok(Buffer.byteLength(instructions) <= 2000)
    for (const { name } of apps) t.match(instructions, new RegExp(`^${name}: x+…$`, 'm'))
    t.equal(core.registry.getLists({ path: '/mcp/app7' }).description.instructions, `App7: ${about}`)
  },
)
