import { writeFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { listBuiltInApps } from '../../src/apps.ts'
import { shortenHits } from '../../src/causeway/find-tools.ts'
import { sharedMount } from '../../src/registry/mount.ts'
import { buildMountLists } from '../../src/registry/mount-lists.ts'
import { ToolSearch } from '../../src/registry/tool-search.ts'
import { tasksExtension } from '../../src/tasks/client-task.ts'
import { demoApp, foundTool } from '../demo-app.ts'
import { modern, openWire, respond, toolCall, until } from '../http/open-wire.ts'
import { call, captureLog, openTestCore } from '../test-core.ts'
import { questions, unseenQuestions } from './questions.ts'

const forward = (name: string, args?: object) => ({
  name,
  ...(args === undefined ? {} : { arguments: args }),
})

const code = (result: unknown) =>
  (result as { _meta?: Record<string, { code: string }> })._meta?.['causeway/error']?.code

verifies('view:call', async (t) => {
  const wire = await openWire(t)
  for (const era of ['modern', 'legacy'] as const)
    for (const path of ['/mcp', '/mcp/core'])
      for (const [name, args] of [
        ['Demo__echo', { text: 'x' }],
        ['Demo__picture', undefined],
        ['OldDemo__echo', { text: 'alias' }],
        ['Demo__echo', { txt: 'x' }],
        ['Demo__fail', { code: 'NO_RECORDING' }],
      ] as const) {
        const direct = await respond(wire, { path, era, message: toolCall(name, args) })
        const message = toolCall('Causeway__call_tool', forward(name, args))
        t.same(await respond(wire, { path, era, message }), direct, `${era} ${path} ${name}`)
      }
  const rest = await wire.send(forward('Demo__echo', { text: 'x' }), {
    path: '/api/apps/causeway/tools/call_tool',
  })
  t.match(rest.json, { text: 'x' }, 'plain HTTP')
})

verifies('view:call', 'the audit has one entry, for the named tool', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await call(core, 'Causeway__call_tool', forward('Demo__echo', { text: 'x' }))
  await call(core, 'Causeway__call_tool', forward('Demo__fail', { code: 'NO_RECORDING' }))
  const entries = await core.audit.query({ limit: 10 })
  t.match(
    entries.map(({ app, tool, code }) => [app, tool, code]),
    [
      ['Demo', 'fail', 'NO_RECORDING'],
      ['Demo', 'echo', 'ok'],
    ],
  )
  t.equal(entries.length, 2)
})

verifies('view:call', 'the session of the client is the same as in a direct call', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  await call(core, 'Demo__count')
  t.match(await call(core, 'Causeway__call_tool', forward('Demo__count')), {
    structuredContent: { count: 2 },
  })
})

verifies('view:call', 'a token needs the scope of the named tool, and no other', async (t) => {
  const dir = t.testdir({ data: {} })
  const tokens = { demo: 'token-for-the-demo-app', other: 'token-for-another-app' }
  writeFileSync(
    `${dir}/tokens`,
    `${tokens.demo} demo demo:read\n${tokens.other} other causeway:read,write,execute\n`,
    { mode: 0o600 },
  )
  const wire = await openWire(t, {
    dir: `${dir}/data`,
    tokens: new TokenFile(`${dir}/tokens`, { log: captureLog().log }),
  })
  const send = async (token: string, name: string) =>
    code(
      (
        await wire.send(toolCall('Causeway__call_tool', forward(name, { text: 'x' })), {
          headers: { authorization: `Bearer ${token}` },
        })
      ).json.result,
    )
  t.equal(await send(tokens.demo, 'Demo__echo'), undefined)
  t.equal(await send(tokens.demo, 'Demo__count'), 'FORBIDDEN_SCOPE')
  t.equal(await send(tokens.other, 'Demo__echo'), 'FORBIDDEN_SCOPE')
})

verifies('view:call', 'a call counts once against the limits of the named app', async (t) => {
  const core = await openTestCore(t, [demoApp().app], { env: { CAUSEWAY_RATE_LIMITS: 'demo=0.1/2' } })
  const echo = () => call(core, 'Causeway__call_tool', forward('Demo__echo', { text: 'x' }))
  t.notOk((await echo()).isError)
  t.notOk((await call(core, 'Demo__echo', { text: 'x' })).isError)
  t.equal(code(await echo()), 'RATE_LIMITED')
  t.equal(code(await call(core, 'Demo__echo', { text: 'x' })), 'RATE_LIMITED')
})

verifies('view:call', 'a slow call becomes a task if the named tool supports tasks', async (t) => {
  const wire = await openWire(t)
  const { body, headers } = modern(toolCall('Causeway__call_tool', forward('Wire__work', { steps: 0 })))
  const { _meta } = body.params as { _meta: Record<string, unknown> }
  _meta['io.modelcontextprotocol/clientCapabilities'] = { extensions: { [tasksExtension]: {} } }
  const { result } = (await wire.send(body, { headers })).json
  t.match(result, { resultType: 'task' })
  await until(() => wire.wire.begun.length === 1)
  wire.wire.release()
})

verifies(
  'view:call',
  'a call of an unknown tool or of itself returns an error result that the model sees',
  async (t) => {
    const core = await openTestCore(t, [demoApp().app])
    t.match(await call(core, 'Causeway__call_tool', forward('Demo__ecko')), {
      isError: true,
      content: [{ text: /did you mean Demo__echo/ }],
    })
    const nested = forward('Causeway__call_read_tool', forward('Demo__echo', { text: 'x' }))
    t.equal(code(await call(core, 'Causeway__call_tool', nested)), 'INVALID_ARGUMENTS')
    t.equal(
      code(await call(core, 'Causeway__call_tool', { name: 'Demo__echo', arguments: 'x' })),
      'INVALID_ARGUMENTS',
    )
    t.equal(code(await call(core, 'Causeway__call_tool', {})), 'INVALID_ARGUMENTS')
    t.equal((await core.audit.query({ limit: 10 })).length, 0, 'no tool ran')
  },
)

verifies('view:call:read-only', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  const read = (name: string, args?: object) => call(core, 'Causeway__call_read_tool', forward(name, args))
  t.match(await read('Demo__echo', { text: 'x' }), { structuredContent: { text: 'x' } })
  t.equal(code(await read('Demo__count')), 'NOT_READ_ONLY')
  t.match(
    await call(core, 'Demo__count'),
    { structuredContent: { count: 1 } },
    'the rejected call did not run',
  )
  const listed = core.registry.getLists({ path: '/mcp/core' }).tools
  const find = (name: string) => listed.find((tool) => tool.name === name)?.annotations
  t.match(find('Causeway__call_read_tool'), { readOnlyHint: true })
  t.match(find('Causeway__call_tool'), { readOnlyHint: false, destructiveHint: true })
})

const lists = buildMountLists(
  sharedMount,
  listBuiltInApps().map((app) => ({
    instance: { app, path: app.name.toLowerCase(), store: undefined, failure: undefined },
    tools: app.tools,
  })),
  { ttlMs: 1, pageSize: 1000 },
)

const search = new ToolSearch(() => ({ hash: 'built-in', lists: new Map([['/mcp', lists]]) }))
t.teardown(() => search.close())

const find = (query: string): string[] =>
  search.find(query, 5).map(({ instance, tool }) => `${instance.app.name}__${tool.name}`)

verifies('view:find', async (t) => {
  t.equal(questions.length, 100)
  const missed = questions.filter(([question, tool]) => !find(question).includes(tool))
  t.comment(`${100 - missed.length} of 100`, missed)
  t.ok(missed.length <= 5)
})

verifies(
  'view:find',
  'for at least 80 % of unseen questions, the first 5 results contain the tool',
  async (t) => {
    const missed = unseenQuestions.filter(([question, tool]) => !find(question).includes(tool))
    t.comment(`${unseenQuestions.length - missed.length} of ${unseenQuestions.length}`, missed)
    t.ok(missed.length <= unseenQuestions.length * 0.2)
  },
)

verifies('view:find', 'a result has at most 4 kB, and marks shortened tools', async (t) => {
  const { app, control } = demoApp()
  const schema = (count: number) => ({
    type: 'object' as const,
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `argument_${index}`,
        { type: 'string', description: 'an argument with a long description of its purpose' },
      ]),
    ),
  })
  control.discovered = [5, 20, 30, 200, 1000].map((count, index) => ({
    ...foundTool(`voyage_${index}`),
    about: `Plan a voyage. ${'Details. '.repeat(30)}`,
    inputSchema: schema(count),
  }))
  const core = await openTestCore(t, [app])
  const { structuredContent } = await call(core, 'Causeway__find_tools', { query: 'plan a voyage' })
  const { tools, summary } = structuredContent as {
    tools: { name: string; input_schema: unknown; is_complete: boolean }[]
    summary: string
  }
  t.ok(Buffer.byteLength(JSON.stringify(structuredContent)) <= 4000)
  t.equal(tools.length, 5)
  t.ok(tools.some(({ input_schema }) => input_schema !== null))
  t.notOk(tools.at(-1)?.is_complete)
  t.match(summary, /describe_tool/)
  for (const query of ['zzz qqq', '"; DROP TABLE tool; --', '* OR NEAR(', 'the', '!?', '😀'])
    t.match(
      await call(core, 'Causeway__find_tools', { query }),
      { structuredContent: { tools: Array } },
      query,
    )
  t.match(await call(core, 'Causeway__find_tools', { query: '' }), { isError: true })
})

verifies('view:find', 'new tools, but not unlisted tools, are found after a refresh', async (t) => {
  const { app, control } = demoApp()
  const core = await openTestCore(t, [app])
  const names = async (query: string): Promise<string[]> => {
    const { structuredContent } = await call(core, 'Causeway__find_tools', { query })
    return (structuredContent as { tools: { name: string }[] }).tools.map(({ name }) => name)
  }
  t.same(await names('submarine'), [])
  control.discovered = [foundTool('dive_submarine'), { ...foundTool('old_submarine'), unlisted: true }]
  await core.registry.refresh()
  t.same(await names('submarine'), ['Demo__dive_submarine'])
  t.notOk((await names('find tools by words')).some((name) => name.startsWith('Causeway__find')))
})

t.test('shortening keeps an argument that is named description', async (t) => {
  const input_schema = {
    type: 'object',
    properties: { description: { type: 'string', description: 'x'.repeat(500) } },
  }
  const hit = { name: 'a', description: 'b', read_only: true, input_schema, is_complete: true }
  t.match(shortenHits([hit], 200), [
    { input_schema: { properties: { description: { type: 'string' } } }, is_complete: false },
  ])
})

verifies('view:describe', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  t.match(await call(core, 'Causeway__describe_tool', { name: 'Demo__echo' }), {
    structuredContent: {
      name: 'Demo__echo',
      app: 'Demo',
      input_schema: { required: ['text'] },
      output_schema: { required: ['text', 'client'] },
      annotations: { readOnlyHint: true },
      summary: /call_read_tool/,
    },
  })
  t.match(await call(core, 'Causeway__describe_tool', { name: 'Demo__ecko' }), {
    isError: true,
    _meta: { 'causeway/error': { code: 'UNKNOWN_TOOL', data: { did_you_mean: 'Demo__echo' } } },
  })
})
