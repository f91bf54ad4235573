import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { demoApp } from './demo-app.ts'
import { call, captureLog, openTestCore, testCaller } from './test-core.ts'

t.test('dispatch: unknown names are protocol errors that suggest what was meant', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await t.rejects(core.dispatch('tools/destroy', {}, testCaller()), { code: 'METHOD_NOT_FOUND' })
  await t.rejects(core.dispatch('toString', {}, testCaller()), { code: 'METHOD_NOT_FOUND' })
  await t.rejects(call(core, 'Demo__ecko'), { code: 'UNKNOWN_TOOL', data: { did_you_mean: 'Demo__echo' } })
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

t.test('dispatch: prompts check their arguments, and the bare mount has bare names', async (t) => {
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
})

t.test('dispatch: resources are listed, read by template, and completed', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  t.match(await core.dispatch('resources/list', {}, testCaller()), { resources: [{ uri: 'demo://notes/a' }] })
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
})

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

t.test('metrics: calls are counted by app, tool and outcome', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await call(core, 'Demo__echo', { text: 'x' })
  await call(core, 'Demo__echo', {})
  const { text } = await core.metrics()
  t.match(text, 'causeway_calls_total{app="Demo",what="echo",code="ok"} 1')
  t.match(text, 'causeway_calls_total{app="Demo",what="echo",code="INVALID_ARGUMENTS"} 1')
})
