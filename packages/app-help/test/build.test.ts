import { existsSync, mkdirSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { build } from '../src/build/build.ts'
import { findPages } from '../src/build/collect.ts'
import { listOwnSources, readSources, type Source } from '../src/build/source.ts'
import type { EmbeddingSettings } from '../src/embedding.ts'
import { Queries } from '../src/search/queries.ts'
import { Reader } from '../src/search/reader.ts'
import { openSqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import type { HelpStorage } from '../src/storage/types.ts'
import { everybody, insiders, library, listPaths, withMethods } from './help-kit.ts'
import { storageContract } from './storage-contract.ts'

const filler = (word: string): string => `${word} `.repeat(30)

const files = {
  'docs/guide/hooks.md': `# Hooks\n\nA hook runs before the handler. ${filler('lifecycle')}`,
  'docs/guide/errors.md': `# Errors\n\nAn exception becomes a response. ${filler('failure')}`,
  'docs_dev/release.md': `# Releasing\n\nTag the commit and publish. ${filler('release')}`,
}

verifies('help:build:incremental', async (t) => {
  const help = library(t, files)
  t.match(await help.build(), { added: 3, updated: 0, unchanged: 0, removed: 0, embedded: 3 })
  const again = await help.build()
  t.match(again, { added: 0, updated: 0, unchanged: 3, removed: 0, embedded: 0, reused: 3 })
  help.write({ 'docs/guide/hooks.md': '# Hooks\n\nRewritten.' })
  t.match(await help.build(), { added: 0, updated: 1, unchanged: 2, removed: 0 })
})

verifies('help:build:no-stale', async (t) => {
  const help = library(t, files)
  await help.build()
  t.same(listPaths(await help.ask('lifecycle', { mode: 'lexical' })), ['docs/guide/hooks.md'])
  const before = (await help.questions.listPages(everybody)).find(({ title }) => title === 'Hooks')

  help.write({ 'docs/guide/hooks.md': '# Hooks\n\nNow about interceptors.' })
  await help.build()
  t.same(listPaths(await help.ask('lifecycle', { mode: 'lexical' })), [], 'removes the old text')
  t.same(listPaths(await help.ask('interceptors', { mode: 'lexical' })), ['docs/guide/hooks.md'])
  const after = (await help.questions.listPages(everybody)).find(({ title }) => title === 'Hooks')
  t.equal(after?.doc_id, before?.doc_id, 'keeps the id of the page')
  t.equal(after?.items, 1)

  help.write({ 'docs/guide/interceptors.md': '# Hooks\n\nNow about interceptors.' })
  unlinkSync(join(help.folder, 'docs/guide/hooks.md'))
  t.match(await help.build(), { added: 1, removed: 1 })
  t.same(
    listPaths(await help.ask('interceptors', { mode: 'lexical' })),
    ['docs/guide/interceptors.md'],
    'a renamed page has a new path',
  )

  unlinkSync(join(help.folder, 'docs/guide/interceptors.md'))
  await help.build()
  t.same(listPaths(await help.ask('interceptors', { mode: 'lexical' })), [], 'removes a deleted page')
  const model = await help.storage.open()
  t.notMatch(Buffer.from((await model?.readSpaceModel()) ?? '').toString('latin1'), /interceptor|lifecycle/)
  await model?.close()
})

verifies('help:build:same-name', async (t) => {
  const help = library(t, {
    'docs/README.md': '# Public\n\nThe public overview.',
    'docs_dev/README.md': '# Internal\n\nThe internal overview.',
  })
  await help.build()
  t.same(listPaths(await help.ask('overview')), ['docs/README.md'])
  t.same(listPaths(await help.ask('overview', { scope: insiders })).sort(), [
    'docs/README.md',
    'docs_dev/README.md',
  ])
  t.match(await help.build(), { unchanged: 2, embedded: 0 }, 'keeps both pages')
})

verifies('help:build:partial', async (t) => {
  const help = library(t, files)
  await help.build()
  const report = await help.build({ sources: help.sources.filter(({ name }) => name === 'docs') })
  t.match(report, { unchanged: 2, removed: 0 })
  t.same(listPaths(await help.ask('releasing', { scope: insiders, mode: 'lexical' })), [
    'docs_dev/release.md',
  ])
})

verifies('help:build:crash', async (t) => {
  const help = library(t, files)
  await help.build()
  const names = readdirSync(join(help.data, 'help'))
  help.write({ 'docs/guide/hooks.md': '# Hooks\n\nNever published.' })
  /** A storage whose process exits while it writes the next index. */
  const dying = withMethods<HelpStorage>(help.storage, {
    async publish() {
      writeFileSync(join(help.data, 'help/index-9.db.part'), 'half an index')
      throw new Error('killed')
    },
  })
  const request = {
    sources: help.sources,
    size: { size: 1600, overlap: 200 },
    embedding: { provider: 'lsa' },
    rebuild: false,
    holder: 'dying',
  } as const
  await t.rejects(
    build(request, { storage: dying, now: Date.now, signal: new AbortController().signal, progress() {} }),
    { message: 'killed' },
  )
  t.same(
    listPaths(await help.ask('lifecycle', { mode: 'lexical' })),
    ['docs/guide/hooks.md'],
    'the previous index is published',
  )
  await help.build()
  t.same(listPaths(await help.ask('published', { mode: 'lexical' })), ['docs/guide/hooks.md'])
  t.notOk(existsSync(join(help.data, 'help/index-9.db.part')), 'removes the incomplete file')
  t.ok(names.every((name) => name.endsWith('.db')))
})

verifies('help:build:lock', async (t) => {
  const clock = { now: 1_000_000 }
  const help = library(t, files, { open: (dir) => openSqliteStorage(dir, () => clock.now) })
  const lock = await help.storage.lock('another')
  await t.rejects(help.build(), { code: 'HELP_BUILD_RUNNING' })
  clock.now += 61_000
  await t.resolves(help.build(), 'a killed build blocks others for one minute')
  await t.resolves(lock.release())
})

verifies('help:build:lock', 'a slow renewal of the lock never follows its release', async (t) => {
  const steps: string[] = []
  const open = (dir: string) => {
    const storage = openSqliteStorage(dir)
    const lock = async (holder: string) => {
      const { renew, release } = await storage.lock(holder)
      let count = 0
      const renewSlowly = async () => {
        count += 1
        for (let turn = count === 2 ? 0 : 300; turn < 300; turn++) await new Promise(setImmediate)
        await renew()
        steps.push('renewed')
      }
      return { renew: renewSlowly, release: () => release().then(() => void steps.push('released')) }
    }
    return withMethods(storage, { lock })
  }
  await library(t, files, { open }).build()
  for (let turn = 0; turn < 400; turn++) await new Promise(setImmediate)
  t.match(`${steps}`, /^(renewed,){3,}released$/)
})

verifies('help:build:chunking', async (t) => {
  const help = library(t, files)
  await help.build()
  const size = { size: 400, overlap: 50 }
  await t.rejects(help.build({ size }), { code: 'HELP_CHUNKING_CHANGED' })
  t.match(await help.build({ size, rebuild: true }), { added: 3 })
  t.match(await help.build({ size }), { unchanged: 3 })
})

verifies('help:build:odd-files', async (t) => {
  const help = library(t, {
    'docs/crlf.md': '# Windows\r\n\r\nline one\r\nline two\r\n',
    'docs/bom.md': '\ufeff# Marked\n\ntext',
    'docs/empty.md': '',
    'docs/_sidebar.md': '# Sidebar\n\nhidden part',
    'docs/node_modules/x/readme.md': '# Dependency\n\nhidden part',
    'docs/page.mdx': 'import X from "y"\n\n# Component\n\n<X>words</X>',
    'docs/big.md': `# Big\n\n${'x'.repeat(2 * 2 ** 20)}`,
    'docs/image.png': 'not text',
    'docs/table.md': `# Table\n\n| a | b |\n| - | - |\n${'| one | two |\n'.repeat(10_000)}`,
    'docs/ja/log.md': '# ログ\n\nログレベルを変更する。',
  })
  mkdirSync(join(help.folder, 'outside'))
  writeFileSync(join(help.folder, 'outside/secret.md'), '# Secret\n\noutside')
  symlinkSync(join(help.folder, 'outside'), join(help.folder, 'docs/link'))
  symlinkSync(join(help.folder, 'docs'), join(help.folder, 'docs/loop'))
  symlinkSync(join(help.folder, 'nowhere'), join(help.folder, 'docs/broken.md'))
  writeFileSync(join(help.folder, 'docs/bytes.md'), Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x41]))
  const report = await help.build()
  t.same(report.failed, [])
  const found = await help.questions.listPages(everybody)
  t.same(found.map(({ file_path }) => file_path).sort(), [
    'bom.md',
    'bytes.md',
    'crlf.md',
    'empty.md',
    'ja/log.md',
    'page.mdx',
    'table.md',
  ])
  const text = report.warnings.join('\n')
  for (const reason of [
    /link: outside the source/,
    /broken.md: broken link/,
    /big.md: larger/,
    /bytes.md: contains invalid UTF-8/,
  ])
    t.match(text, reason)
  const lines = { from_line: 3, max_lines: 1 }
  const page = await help.questions.readPage({ file_path: 'crlf.md' }, lines, everybody)
  t.match(page, { content: 'line one', total_lines: 5 })
  t.equal(found.find(({ file_path }) => file_path === 'bom.md')?.title, 'Marked')
  t.ok((found.find(({ file_path }) => file_path === 'table.md')?.items ?? 0) > 50)
})

verifies('help:source:names', async (t) => {
  const folder = t.testdir({ a: {}, b: {} })
  t.same(
    readSources(['x=a', 'internal:y=b', 'pkg:fastify'], folder).map(({ name, is_internal, kind }) => [
      name,
      is_internal,
      kind,
    ]),
    [
      ['x', false, 'folder'],
      ['y', true, 'folder'],
      ['pkg:fastify', false, 'package'],
    ],
  )
  const wrong = ['x', '=a', 'x=', 'x=missing', 'pkg:not-installed-anywhere', 'pkg:../up', 'a b=a']
  for (const entry of wrong)
    t.throws(() => readSources([entry], folder), { code: 'HELP_SOURCE_INVALID' }, entry)
  t.throws(() => readSources(['x=a', 'x=b'], folder), { code: 'HELP_SOURCE_INVALID' })
})

verifies('help:source:own', async (t) => {
  const [own, ...others] = listOwnSources()
  t.same(
    others.map(({ name, is_internal }) => [name, is_internal]),
    [
      ['docs_dev', true],
      ['pkg:fastify', false],
      ['pkg:undici', false],
    ],
  )
  t.match(own, { name: 'causeway', is_internal: false })
  if (own === undefined) return
  const pages = (await findPages(own)).files.map(({ file_path }) => file_path)
  const { files } = await findPages({ name: 'all', folder: own.folder, kind: 'folder', is_internal: false })
  const hideInternal = files.map(({ file_path }) => file_path)
  const wanted = hideInternal.filter((path) => /^(?:README|CHANGELOG|CONTRIBUTING)\.md$|^docs\//.test(path))
  for (const path of wanted) t.ok(pages.includes(path), path)
  for (const path of hideInternal.filter((one) =>
    /^(?:packages\/app-[a-z]+|bridge|server|examples)\/README\.md$/.test(one),
  ))
    t.ok(pages.includes(path), path)
  t.notOk(pages.some((path) => /^(?:docs_dev|fixtures|scripts|test)\/|node_modules/.test(path)))
})

verifies('help:source:own', 'a packed server has its public pages in a separate folder', async (t) => {
  const folder = t.testdir({
    server: {
      documentation: { 'README.md': '# Causeway', docs: { 'architecture.md': '# Architecture' } },
      node_modules: { '@causeway': { 'app-help': { dist: {} } } },
    },
  })
  const [own, ...others] = listOwnSources(join(folder, 'server/node_modules/@causeway/app-help/dist'))
  t.match(own, { name: 'causeway', folder: join(folder, 'server/documentation') })
  t.notOk(others.some(({ is_internal }) => is_internal))
})

verifies('help:source:own', 'pages under a former source name are removed', async (t) => {
  const help = library(t, { 'docs/old.md': '# Old\n\nwallaby' })
  await help.build()
  const own: Source = { name: 'own', folder: join(help.folder, 'docs'), kind: 'folder', is_internal: false }
  t.match(await help.build({ sources: [{ ...own, formerNames: ['docs'] }] }), { added: 1, removed: 1 })
  t.same(listPaths(await help.ask('wallaby')), ['own/old.md'])
})

storageContract('SQLite', t, async (_t, folder, now) => openSqliteStorage(folder, now))

/** Starts an endpoint with one direction for texts about ships and one for other texts. It can be set to fail. */
async function endpoint(t: Test) {
  const state = { asked: 0, dimensions: 3, isDown: false }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { input } = JSON.parse(text) as { input: string[] }
    if (state.isDown) return void response.writeHead(400).end()
    state.asked += input.length
    const data = input.map((one, index) => {
      const embedding = new Array(state.dimensions).fill(0.01)
      embedding[/ship|vessel|boat/i.test(one) ? 0 : 1] = 1
      return { index, embedding }
    })
    response.end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const settings = (dimensions = 3): EmbeddingSettings => ({
    provider: 'openai',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model: 'test',
    dimensions,
    requestDimensions: false,
    apiKey: 'secret',
  })
  return { state, settings }
}

const spaceFiles = {
  'docs/a.md': '# Sailing\n\nA vessel leaves the harbour.',
  'docs/b.md': '# Parsing\n\nA parser reads tokens.',
  'docs/c.md': '# Cooking\n\nA pot boils water.',
}

verifies('help:space:endpoint', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, spaceFiles, { embedding: settings() })
  t.match(await help.build(), { embedded: 3 })
  const found = await help.ask('where is the boat')
  t.equal(listPaths(found)[0], 'docs/a.md', 'finds texts without common words')
  t.match(found, { mode: 'hybrid', degraded: undefined })
  t.ok((found.results[0]?.avg_similarity ?? 0) > 0.9)
  const before = state.asked
  help.write({ 'docs/b.md': '# Parsing\n\nA lexer reads characters.' })
  t.match(await help.build(), { embedded: 1, reused: 2 }, 'requests only changed texts')
  t.equal(state.asked, before + 1)
  t.match(await help.build({ rebuild: true }), { embedded: 0, reused: 3 }, 'requests each text once')
})

verifies('help:space:mismatch', async (t) => {
  const { settings } = await endpoint(t)
  const help = library(t, spaceFiles, { embedding: settings() })
  await help.build()
  const other = settings(1536)
  await t.rejects(help.build({ embedding: other }), {
    code: 'EMBEDDING_SPACE_MISMATCH',
    data: { stored: { dimensions: 3 }, configured: { dimensions: 1536 } },
  })
  const storage = openSqliteStorage(help.data)
  const reader = new Reader(storage, other)
  t.teardown(() => reader.close())
  const request = {
    text: 'parser',
    top_n: 3,
    chunks_per_result: 1,
    mode: 'hybrid',
    scope: everybody,
    max_chars: 1000,
  } as const
  const found = await new Queries(storage, reader).search(request, new AbortController().signal)
  t.equal(listPaths(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDING_SPACE_MISMATCH', remedy: /help:rebuild/ } })
})

verifies('help:space:mismatch', 'an endpoint whose dimensions differ is rejected', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, spaceFiles, { embedding: settings() })
  await help.build()
  state.dimensions = 4
  help.write({ 'docs/a.md': '# Sailing\n\nA ship.' })
  await t.rejects(help.build(), { code: 'EMBEDDING_SPACE_MISMATCH' })
  const found = await help.ask('parser')
  t.equal(listPaths(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDING_SPACE_MISMATCH' } })
})

verifies('help:space:away', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, spaceFiles, { embedding: settings() })
  await help.build()
  state.isDown = true
  const found = await help.ask('parser')
  t.equal(listPaths(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDINGS_UNAVAILABLE' } })
  t.notMatch(JSON.stringify(found), /secret/)
  state.isDown = false
  const asked = state.asked
  t.match(await help.ask('parser'), { mode: 'lexical' }, 'does not call an unavailable endpoint for a while')
  t.equal(state.asked, asked)
})

t.test('build reuses the cached vectors of a failed build', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, spaceFiles, { embedding: settings() })
  const publish = help.storage.publish
  Object.assign(help.storage, { publish: () => Promise.reject(new Error('killed')) })
  await t.rejects(help.build())
  Object.assign(help.storage, { publish })
  await help.build()
  t.ok(state.asked <= 3, `${state.asked} texts requested for 3`)
})

t.test('search without configured vectors is not degraded', async (t) => {
  const help = library(t, spaceFiles, { embedding: { provider: 'none' } })
  await help.build()
  const found = await help.ask('parser')
  t.match(found, { mode: 'lexical', degraded: undefined })
  t.equal(found.results[0]?.avg_similarity, null)
})
