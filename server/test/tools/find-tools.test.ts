import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { builtInApps } from '../../src/apps.ts'
import { fitHits } from '../../src/causeway/find-tools.ts'
import { sharedMount } from '../../src/registry/mount.ts'
import { buildMountLists } from '../../src/registry/mount-lists.ts'
import { ToolSearch } from '../../src/registry/tool-search.ts'
import { demoApp, foundTool } from '../demo-app.ts'
import { call, openTestCore } from '../test-core.ts'
import { questions, unseenQuestions } from './questions.ts'

const lists = buildMountLists(
  sharedMount,
  builtInApps().map((app) => ({
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

verifies('view:find', 'at least 80 % of questions that nothing was tuned for find their tool', async (t) => {
  const missed = unseenQuestions.filter(([question, tool]) => !find(question).includes(tool))
  t.comment(`${unseenQuestions.length - missed.length} of ${unseenQuestions.length}`, missed)
  t.ok(missed.length <= unseenQuestions.length * 0.2)
})

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

verifies('view:find', 'new tools are found after a refresh, unlisted ones never', async (t) => {
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
  t.match(fitHits([hit], 200), [
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
