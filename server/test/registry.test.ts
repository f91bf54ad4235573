import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { demoApp, foundTool } from './demo-app.ts'
import { call, captureLog, openTestCore, soon, testCaller, toolNames } from './test-core.ts'

verifies('app:registry:refresh', 'an app that reports a change is discovered immediately', async (t) => {
  const { app, control } = demoApp()
  const core = await openTestCore(t, [app])
  const changed = new Promise<string>((resolve) => {
    const mounts: string[] = []
    core.events.on('changed', (change) => {
      if ('list' in change) mounts.push(`${change.mount.path} ${change.list}`)
      if (mounts.length === 2) resolve(mounts.join(', '))
    })
  })
  control.discovered = [foundTool('found')]
  control.announce('tools')
  t.equal(await soon(changed), '/mcp tools, /mcp/demo tools', 'only mounts with a changed list are reported')
  t.ok(toolNames(core).includes('Demo__found'))
  t.same((await call(core, 'Demo__found')).structuredContent, { name: 'found' })
})

verifies('app:registry:cached', 'tools are discovered again after the TTL, and not before', async (t) => {
  const { app, control } = demoApp()
  const core = await openTestCore(t, [app], { env: { MCP_TOOLS_TTL_MS: '100' } })
  const first = control.discoveries
  for (let i = 0; i < 50; i++) toolNames(core)
  t.equal(control.discoveries, first, 'listing does not discover')
  control.discovered = [foundTool('later')]
  await soon(new Promise<void>((resolve) => core.events.on('changed', () => resolve())))
  t.ok(toolNames(core).includes('Demo__later'))
})

verifies('app:registry:last-good', 'after a failed discovery, the last good list remains', async (t) => {
  const { app, control } = demoApp()
  const { log, lines } = captureLog()
  control.discovered = [foundTool('found')]
  const core = await openTestCore(t, [app], { log })
  control.onDiscover = () => {
    throw new Error('the folder is gone')
  }
  t.same((await core.registry.refresh()).changed, false)
  t.ok(toolNames(core).includes('Demo__found'))
  t.equal(lines.at(-1)?.msg, 'discovery failed; the previous list remains in use')
})

verifies('app:registry:last-good', 'a discovered tool with an invalid name is rejected', async (t) => {
  const { app, control } = demoApp()
  const core = await openTestCore(t, [app])
  control.discovered = [foundTool(`too_${'long_'.repeat(10)}name`)]
  t.match(await core.registry.refresh(), { changed: false })
  t.ok(toolNames(core).includes('Demo__echo'))
})

verifies(
  'app:registry:last-good',
  'a discovery that never ends blocks neither calls nor other apps',
  async (t) => {
    const slow = demoApp({ name: 'Slow', scheme: 'slow' })
    const fast = demoApp()
    const core = await openTestCore(t, [slow.app, fast.app])
    slow.control.onDiscover = () => new Promise(() => {})
    fast.control.discovered = [foundTool('found')]
    const refreshed = core.registry.refresh()
    t.match(await call(core, 'Slow__echo', { text: 'here' }), { structuredContent: { text: 'here' } })
    await soon(refreshed)
    t.ok(toolNames(core).includes('Demo__found'), 'the other app waits at most a second')
  },
)

t.test('an unlisted tool is callable', async (t) => {
  const { app, control } = demoApp()
  control.discovered = [{ ...foundTool('old_name'), unlisted: true }, foundTool('found')]
  const core = await openTestCore(t, [app])
  t.same(
    toolNames(core).filter((name) => /found|old_name/.test(name)),
    ['Demo__found'],
  )
  t.same((await call(core, 'Demo__old_name')).structuredContent, { name: 'old_name' })
})

verifies('app:registry:disabled', async (t) => {
  const core = await openTestCore(t, [demoApp().app, demoApp({ name: 'Other', scheme: 'other' }).app], {
    env: { CAUSEWAY_APPS: 'other' },
  })
  t.ok(toolNames(core).every((name) => name.startsWith('Other__')))
  await t.rejects(call(core, 'Demo__echo', { text: 'x' }), { code: 'UNKNOWN_TOOL' })
  t.throws(() => core.registry.getLists({ path: '/mcp/demo' }), { code: 'ROUTE_NOT_FOUND' })
  await t.rejects(
    call(core, 'Other__constructor'),
    { code: 'UNKNOWN_TOOL' },
    'only declared tools are callable',
  )
})

verifies('app:registry:scheme-owner', async (t) => {
  const core = await openTestCore(t, [demoApp().app, demoApp({ name: 'Second' }).app])
  const { status, apps } = await core.health()
  t.equal(status, 'degraded')
  t.match(apps, { Demo: { status: 'ok' }, Second: { status: 'failed', reason: 'INVALID_APP' } })
  t.match(await call(core, 'Second__echo', { text: 'x' }), {
    isError: true,
    _meta: { 'causeway/error': { code: 'APP_UNAVAILABLE', retryable: true } },
  })
})

t.test('the shared mount lists wire names, and a bare mount lists bare aliases', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  t.ok(toolNames(core).includes('Demo__echo'))
  t.notOk(toolNames(core).includes('OldDemo__echo'), 'a full alias is not listed')
  t.ok(toolNames(core, '/mcp/demo').includes('demo.echo'))
  t.notOk(toolNames(core, '/mcp/demo').includes('echo'))
  for (const [path, name] of [
    ['/mcp', 'Demo__echo'],
    ['/mcp', 'OldDemo__echo'],
    ['/mcp/demo', 'demo.echo'],
    ['/mcp/demo', 'echo'],
  ] as const)
    t.match(
      await call(core, name, { text: 'x' }, { mount: { path } }),
      { structuredContent: { text: 'x' } },
      name,
    )
})

verifies(
  'wire:list:pages',
  'pages contain the whole list, and a cursor of another list is rejected',
  async (t) => {
    const core = await openTestCore(t, [demoApp().app], { env: { CAUSEWAY_PAGE_SIZE: '3' } })
    const names: string[] = []
    let cursor: string | undefined
    do {
      const page = (await core.dispatch(
        'tools/list',
        cursor === undefined ? {} : { cursor },
        testCaller(),
      )) as {
        tools: { name: string }[]
        nextCursor?: string
      }
      t.ok(page.tools.length <= 3)
      names.push(...page.tools.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    t.ok(names.length > 6, 'more than two pages')
    t.same(
      names,
      toolNames(await openTestCore(t, [demoApp().app])),
      'each tool once, in the order of a single page',
    )
    const first = JSON.parse(core.registry.getLists({ path: '/mcp' }).toolsJson.legacy)
    await t.rejects(
      core.dispatch('tools/list', { cursor: first.nextCursor }, testCaller({ mount: { path: '/mcp/demo' } })),
      { code: 'INVALID_CURSOR' },
    )
    await t.rejects(core.dispatch('tools/list', { cursor: 'x' }, testCaller()), { code: 'INVALID_CURSOR' })
  },
)

verifies('wire:list:cache-hints', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  t.match(JSON.parse(core.registry.getLists({ path: '/mcp' }).toolsJson.modern), {
    ttlMs: 300_000,
    cacheScope: 'public',
  })
  t.notOk('ttlMs' in JSON.parse(core.registry.getLists({ path: '/mcp' }).toolsJson.legacy))
})

const appSource = (greeting: string): string => `
import { defineApp } from '@causeway/app-kit'
import { z } from 'zod'
import { greet } from './greet.mjs'
export default defineApp({ name: 'Mine', about: 'My own.', open: () => ({}), session: () => ({}) }, (app) => {
  app.tool('hello', {
    about: 'Says hello.', input: { who: z.string().describe('name') }, output: { text: z.string() },
    example: { args: { who: 'you' } }, run: ({ who }) => ({ text: greet(who) + ${JSON.stringify(greeting)} }),
  })
})`

const greetSource = (word: string): string => `export const greet = (who) => '${word} ' + who`

verifies(
  'app:user:by-path',
  'a user app is loaded, called, and reloaded when one of its files changes',
  async (t) => {
    const dir = t.testdir({ 'mine.mjs': appSource('!'), 'greet.mjs': greetSource('Hello') })
    const core = await openTestCore(t, [demoApp().app], { dir, env: { CAUSEWAY_USER_APPS: './mine.mjs' } })
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Hello Ada!' } })
    t.match(await call(core, 'Mine__hello', {}), { isError: true }, 'arguments are validated')

    writeFileSync(join(dir, 'greet.mjs'), greetSource('Good day'))
    utimesSync(join(dir, 'greet.mjs'), new Date(), new Date(Date.now() + 10_000))
    await core.registry.refresh()
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Good day Ada!' } })
  },
)

verifies(
  'app:user:broken',
  'an app that fails to load is reported, and a broken change keeps the last good version',
  async (t) => {
    const dir = t.testdir({
      'mine.mjs': appSource('!'),
      'greet.mjs': greetSource('Hello'),
      'broken.mjs': 'export default 7',
    })
    const core = await openTestCore(t, [demoApp().app], {
      dir,
      env: { CAUSEWAY_USER_APPS: './mine.mjs:./broken.mjs:./gone.mjs' },
    })
    t.match(await core.health(), {
      status: 'degraded',
      apps: {
        Mine: { status: 'ok' },
        './broken.mjs': { reason: 'INVALID_APP' },
        './gone.mjs': { status: 'failed' },
      },
    })
    writeFileSync(join(dir, 'mine.mjs'), 'export default {')
    utimesSync(join(dir, 'mine.mjs'), new Date(), new Date(Date.now() + 10_000))
    const refreshed = await call(core, 'Causeway__refresh_registry')
    const summary = String(refreshed.structuredContent?.summary)
    for (const reason of [
      /broken\.mjs failed: INVALID_APP: [^;]+; /,
      /gone\.mjs failed: /,
      /mine\.mjs failed: /,
    ])
      t.match(summary, reason, 'refresh_registry names each failed app and the reason')
    t.ok(toolNames(core).includes('Mine__hello'))
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Hello Ada!' } })
  },
)

t.test('unknown methods, tools, resources and prompts are rejected with protocol errors', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await t.rejects(core.dispatch('tools/destroy', {}, testCaller()), { code: 'METHOD_NOT_FOUND' })
  await t.rejects(core.dispatch('toString', {}, testCaller()), { code: 'METHOD_NOT_FOUND' })
  for (const name of ['Demo__ecko', 'echo', 'Dmo__echo', 'demo__ecko'])
    await t.rejects(call(core, name), { code: 'UNKNOWN_TOOL', data: { did_you_mean: 'Demo__echo' } })
  // Only the prefix is similar.
  await t.rejects(call(core, 'Demo__exit'), { code: 'UNKNOWN_TOOL', message: /: Demo__exit$/ })
  await t.rejects(core.dispatch('tools/call', {}, testCaller()), { code: 'INVALID_PARAMS' })
  await t.rejects(core.dispatch('resources/read', { uri: 'demo://else' }, testCaller()), {
    code: 'RESOURCE_NOT_FOUND',
  })
  await t.rejects(core.dispatch('prompts/get', { name: 'Demo__no' }, testCaller()), {
    code: 'UNKNOWN_PROMPT',
  })
})

verifies('app:answer:no-internals', async (t) => {
  const { log, lines } = captureLog()
  const core = await openTestCore(t, [demoApp().app], { log })
  const answer = await call(core, 'Demo__fail', { code: 'accident' })
  t.match(answer, { isError: true, _meta: { 'causeway/error': { code: 'INTERNAL', data: {} } } })
  t.notMatch(JSON.stringify(answer), /secret path|demo-app/)
  t.match(lines.at(-1), {
    msg: 'call',
    code: 'INTERNAL',
    request_id: 'request-1',
    err: { stack: /secret path/ },
  })
})

t.test(
  'prompts validate their arguments, and the mount of an app lists them without the prefix of the app',
  async (t) => {
    const core = await openTestCore(t, [demoApp().app])
    t.match(
      await core.dispatch('prompts/get', { name: 'Demo__greet', arguments: { who: 'Ada' } }, testCaller()),
      {
        messages: [{ role: 'user', content: { text: 'Greet Ada.' } }],
      },
    )
    t.match(
      await core.dispatch('prompts/list', {}, testCaller({ mount: { path: '/mcp/demo', app: 'demo' } })),
      {
        prompts: [
          {
            name: 'greet',
            arguments: [
              { name: 'who', required: true },
              { name: 'tone', required: false },
            ],
          },
        ],
      },
    )
    await t.rejects(core.dispatch('prompts/get', { name: 'Demo__greet', arguments: {} }, testCaller()), {
      code: 'INVALID_PARAMS',
      data: { problems: [{ argument: 'who' }] },
    })
  },
)

t.test(
  'resources are listed and read, and completion suggests their variables and prompt arguments',
  async (t) => {
    const core = await openTestCore(t, [demoApp().app])
    t.match(await core.dispatch('resources/list', {}, testCaller()), {
      resources: [{ uri: 'demo://notes/a' }],
    })
    t.match(await core.dispatch('resources/templates/list', {}, testCaller()), {
      resourceTemplates: [{ uriTemplate: 'demo://notes/{id}' }],
    })
    t.match(await core.dispatch('resources/read', { uri: 'demo://notes/a%20b' }, testCaller()), {
      contents: [{ uri: 'demo://notes/a%20b', text: '{"id":"a b"}' }],
    })
    const completed = await core.dispatch(
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'demo://notes/{id}' }, argument: { name: 'id', value: 'B' } },
      testCaller(),
    )
    t.same(completed, { completion: { values: ['beta'], total: 1, hasMore: false } })
    t.match(
      await core.dispatch(
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'Demo__greet' }, argument: { name: 'who', value: 'a' } },
        testCaller(),
      ),
      { completion: { values: ['Ada', 'Alan'] } },
    )
  },
)

verifies('server:own-tools', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  t.match(await call(core, 'Causeway__get_health'), {
    structuredContent: { status: 'ok', apps: { Demo: {} } },
  })
  t.match(await call(core, 'Causeway__list_apps'), {
    structuredContent: { apps: [{ name: 'Causeway' }, { name: 'Demo' }] },
  })
  t.match(await call(core, 'Causeway__refresh_registry'), { structuredContent: { changed: false } })
})

t.test('metrics count calls by app, tool and outcome', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await call(core, 'Demo__echo', { text: 'x' })
  await call(core, 'Demo__echo', {})
  const { text } = await core.metrics.render()
  t.match(text, 'causeway_calls_total{app="Demo",what="echo",code="ok"} 1')
  t.match(text, 'causeway_calls_total{app="Demo",what="echo",code="INVALID_ARGUMENTS"} 1')
})
