import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import { openMaintenance } from '../src/build/maintenance.ts'
import help from '../src/index.ts'
import { type AppOptions, type OpenedApp, openApp, writeFiles } from './help-kit.ts'

const canary = 'The quokka zanzibarcanary sentence stays here.'

const files = {
  'docs/guide/hooks.md': `# Hooks\n\nA hook runs before the handler. ${'lifecycle '.repeat(30)}`,
  'docs/guide/errors.md': '# Errors\n\nAn exception becomes a response.',
  'docs/README.md': '# Readme\n\nThe overview.',
  'docs_dev/plan.md': `# Planning\n\n${canary}`,
}

const opened = (t: Test, options: AppOptions = {}): Promise<OpenedApp> =>
  openApp(t, { pages: files, ...options })

verifies('help:tools', async (t) => {
  t.same(
    help.tools.map(({ name, inputSchema, aliases }) => [
      name,
      Object.keys(inputSchema.properties as object),
      aliases.full,
    ]),
    [
      [
        'find_help_topics',
        [
          'text',
          'top_n',
          'chunks_per_result',
          'include_internal',
          'language',
          'section',
          'source',
          'mode',
          'max_chars',
        ],
        ['MonadicHelpOpenAI__find_help_topics'],
      ],
      [
        'search_help_by_section',
        ['text', 'section', 'top_n', 'chunks_per_result', 'include_internal', 'max_chars'],
        ['MonadicHelpOpenAI__search_help_by_section'],
      ],
      [
        'get_help_document',
        ['doc_id', 'file_path', 'source', 'from_line', 'max_lines', 'include_internal'],
        ['MonadicHelpOpenAI__get_help_document'],
      ],
      [
        'list_help_sections',
        ['language', 'include_internal', 'limit', 'cursor'],
        ['MonadicHelpOpenAI__list_help_sections'],
      ],
    ],
  )
  const defaults = help.tools.map(
    ({ inputSchema }) => inputSchema.properties as Record<string, { default?: unknown }>,
  )
  t.match(defaults[0], {
    top_n: { default: 10 },
    chunks_per_result: { default: 3 },
    include_internal: { default: false },
  })
  t.match(defaults[1], { top_n: { default: 3 } })
  t.ok(help.tools.every(({ annotations }) => annotations.readOnlyHint === true))
})

verifies('help:tools:results', async (t) => {
  const { app } = await opened(t)
  const client = app.client()
  const { results, summary, mode } = await client.call('find_help_topics', {
    text: 'what runs before the handler',
  })
  t.equal(mode === 'hybrid' || mode === 'lexical', true)
  t.match(summary, /Best: Hooks/)
  const [best] = results as Record<string, unknown>[]
  t.match(best, {
    doc_id: Number,
    title: 'Hooks',
    file_path: 'guide/hooks.md',
    section: 'Guide',
    language: 'en',
    source: 'docs',
    score: Number,
    chunks: [
      {
        item_id: Number,
        heading: 'Hooks',
        position: 0,
        anchor: 'hooks',
        start_line: 1,
        end_line: 3,
        text: /^# Hooks/,
        score: Number,
        ranks: { stem: 1 },
      },
    ],
  })
  t.notOk('is_internal' in (best ?? {}), 'does not reveal internal pages')
  const { doc_id } = best as { doc_id: number }
  t.match(await client.call('get_help_document', { doc_id }), {
    doc_id,
    content: /^# Hooks/,
    snippets_count: 1,
    start_line: 1,
    end_line: 3,
    uri: `help://doc/${doc_id}`,
  })
  t.match(await client.call('list_help_sections'), {
    sections: [
      {
        section: 'Guide',
        count: 2,
        documents: [{ title: 'Errors' }, { title: 'Hooks', file_path: 'guide/hooks.md', doc_id }],
      },
      { section: 'Overview', documents: [{ title: 'Readme' }] },
    ],
  })
  t.match(await client.call('search_help_by_section', { text: 'exception', section: 'guide' }), {
    section: 'guide',
    results: [{ title: 'Errors' }],
  })
  t.match(await client.call('find_help_topics', { text: 'xylophone', mode: 'lexical' }), {
    results: [],
    summary: /No document matches/,
  })
})

verifies('help:tools:mistakes', async (t) => {
  const { app } = await opened(t)
  const client = app.client()
  const refusal = (tool: string, args: object) => client.call(tool, args).catch((error) => error)
  t.match(await refusal('find_help_topics', { text: 'x', topn: 3 }), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'topn', did_you_mean: 'top_n' }] },
  })
  t.match(await refusal('find_help_topics', { text: '' }), { code: 'INVALID_ARGUMENTS' })
  t.match(await refusal('get_help_document', {}), {
    code: 'INVALID_ARGUMENTS',
    data: { expected: ['doc_id', 'file_path'] },
  })
  t.match(await refusal('get_help_document', { doc_id: 4711 }), { code: 'HELP_DOC_NOT_FOUND' })
  t.match(await refusal('search_help_by_section', { text: 'x', section: 'Giude' }), {
    code: 'HELP_SECTION_NOT_FOUND',
    data: { nearest: ['Guide'] },
  })
  for (const [tool, args] of [
    ['find_help_topics', { text: 'x', source: 'doc' }],
    ['get_help_document', { file_path: 'README.md', source: 'doc' }],
  ] as const)
    t.match(await refusal(tool, args), {
      code: 'HELP_SOURCE_NOT_FOUND',
      data: { source: 'doc', nearest: ['docs'] },
    })
})

verifies('help:internal:word', async (t) => {
  const { app } = await opened(t)
  const client = app.client()
  for (const [tool, args] of [
    ['find_help_topics', { text: 'quokka' }],
    ['search_help_by_section', { text: 'quokka', section: 'General' }],
    ['get_help_document', { doc_id: 1 }],
    ['list_help_sections', {}],
  ] as const)
    await t.rejects(
      client.call(tool, { ...args, include_internal: true }),
      { code: 'HELP_INTERNAL_FORBIDDEN' },
      tool,
    )
})

verifies('help:internal:allowed', async (t) => {
  const { app } = await opened(t, { settings: { helpInternal: true } })
  const client = app.client()
  const asked = await client.call('find_help_topics', {
    text: 'quokka',
    mode: 'lexical',
    include_internal: true,
  })
  t.match(asked.results, [{ source: 'docs_dev', is_internal: true }])
  const quiet = await client.call('find_help_topics', { text: 'quokka', mode: 'lexical' })
  t.same(quiet.results, [], 'includes internal pages only on request')
})

verifies('help:internal:canary', async (t) => {
  const { app, store, log } = await opened(t)
  await store.build()
  const client = app.client()
  const said: unknown[] = [log, await store.health(), app.changes]
  for (let id = 1; id <= 6; id++) {
    said.push(
      await client
        .call('get_help_document', { doc_id: id })
        .catch(({ code, message, data }) => ({ code, message, data })),
    )
    said.push(
      await client.read(`help://doc/${id}`).catch(({ code, message, data }) => ({ code, message, data })),
    )
  }
  for (const text of ['quokka zanzibarcanary', 'planning', 'sentence stays'])
    for (const mode of ['hybrid', 'lexical', 'vector'])
      said.push((await client.call('find_help_topics', { text, mode })).results)
  said.push(await client.call('list_help_sections'), await client.read('help://llms.txt'))
  said.push(
    await client.call('search_help_by_section', { text: 'x', section: 'Plannin' }).catch(({ data }) => data),
  )
  said.push(await client.call('get_help_document', { file_path: 'plan.md' }).catch(({ data }) => data))
  t.notMatch(JSON.stringify(said), /zanzibarcanary sentence|docs_dev|Planning|"plan\.md"/)
})

verifies('help:resources', async (t) => {
  const { app, store } = await opened(t)
  await store.build()
  const client = app.client()
  const read = async (uri: string): Promise<string> => {
    const contents = await client.read(uri)
    return 'text' in contents ? contents.text : ''
  }
  const llms = await client.read('help://llms.txt')
  t.match(llms, { mimeType: 'text/plain', text: /## Guide[\s\S]*\[Hooks\]\(help:\/\/doc\/\d+\)/ })
  const uri = /help:\/\/doc\/\d+/.exec(await read('help://llms.txt'))?.[0] ?? ''
  t.match(await client.read(uri), { mimeType: 'text/markdown', text: /^# / })
  t.match(JSON.parse(await read('help://section/Guide')), {
    section: 'Guide',
    documents: [{ title: 'Errors' }, { title: 'Hooks' }],
  })
  await t.rejects(client.read('help://doc/x'), { code: 'RESOURCE_NOT_FOUND' })
  await t.rejects(client.read('help://section/None'), { code: 'RESOURCE_NOT_FOUND' })
})

verifies('help:prompt', async (t) => {
  const { app } = await opened(t)
  const [message] = await app
    .client()
    .prompt('answer_from_docs', { question: 'how do hooks work', section: 'Guide' })
  t.match(message, { role: 'user', content: { text: /how do hooks work[\s\S]*search_help_by_section/ } })
})

verifies('help:start', async (t) => {
  const { app, store } = await opened(t)
  t.equal(await store.isBuilt(), false, 'opens before the first index exists')
  const answer = await app.client().call('find_help_topics', { text: 'hook' })
  t.match(answer.results, [{ title: 'Hooks' }], 'the first query waits for the first index only')
  await store.build()
  t.match(await store.health(), { docs: 3, indexing: null, failure: null, mode: 'hybrid' })
  t.equal(store.getBuildProgress(), undefined)
})

verifies('help:start', 'if indexing at the start is disabled, a query fails with a remedy', async (t) => {
  const { app } = await opened(t, { settings: { helpBuild: false } })
  await t.rejects(app.client().call('find_help_topics', { text: 'hook' }), {
    code: 'HELP_NOT_BUILT',
    remedy: /help:build/,
  })
})

verifies('help:workers', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let ms = 0
  const { app, store, folder } = await opened(t, { now: () => ms })
  await store.build()
  t.match(await store.build(), { unchanged: 3, embedded: 0 }, 'unchanged pages are not embedded again')
  t.equal(await store.memory.bytes(), 0, 'a build does not start the search worker')
  t.match(await store.health(), { docs: 3, mode: 'hybrid' })

  await app.client().call('find_help_topics', { text: 'hook' })
  t.ok(await store.memory.bytes())
  ms = 5 * 60_000 + 1
  mock.timers.tick(2000)
  await until(
    () => store.memory.bytes(),
    (bytes) => bytes === 0,
  )
  t.match(await store.health(), { docs: 3, mode: 'hybrid' })

  const before = app.changes.length
  const sources = [`docs=${join(folder, 'docs')}`]
  unlinkSync(join(folder, 'docs/guide/errors.md'))
  await openMaintenance({
    dir: join(folder, 'data'),
    settings: { helpSources: sources },
    cwd: folder,
  }).build(false)
  mock.timers.tick(2000)
  await until(
    async () => app.changes.slice(before),
    (changes) => changes.length === 1,
  )
  t.same(app.changes.slice(before), ['resources'], 'detects an index of another process without a worker')
})

verifies('help:build:announced', async (t) => {
  const { app, store, folder } = await opened(t)
  await store.build()
  const before = app.changes.length
  unlinkSync(join(folder, 'docs/guide/errors.md'))
  const [a, b] = await Promise.all([store.build(), store.build()])
  t.equal(a, b, 'concurrent builds are joined')
  t.match(a, { removed: 1 })
  t.same(app.changes.slice(before), ['resources'])
})

verifies('help:build:under-load', async (t) => {
  const pages = Object.fromEntries(
    Array.from({ length: process.env.CAUSEWAY_LONG ? 400 : 60 }, (_, i) => [
      `docs/p${i}.md`,
      `# Page ${i}\n\n${`word${i} common `.repeat(60)}`,
    ]),
  )
  const { app, store, folder } = await opened(t, { pages })
  await store.build()
  writeFiles(folder, { 'docs/p0.md': '# Page 0\n\nreplaced text' })
  const client = app.client()
  let asked = 0
  const build = store.build()
  const ask = async (): Promise<void> => {
    while (asked < 200) {
      asked++
      const { results } = await client.call('find_help_topics', {
        text: `common word${asked % 50}`,
        top_n: 3,
      })
      if ((results as unknown[]).length !== 3) throw new Error('an answer with too few documents')
    }
  }
  await Promise.all(Array.from({ length: 16 }, ask))
  t.match(await build, { updated: 1, failed: [] })
  t.match((await client.call('find_help_topics', { text: 'replaced text', mode: 'lexical' })).results, [
    { title: 'Page 0' },
  ])
})

t.test('close stops a running build', async (t) => {
  const { app, store } = await opened(t)
  const build = store.build().catch((error) => error)
  await app.close()
  t.match(await build, { code: /WORKER_LOST|CANCELLED/ })
})
