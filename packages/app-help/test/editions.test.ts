import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { build } from '../src/build/build.ts'
import { openMaintenance } from '../src/build/maintenance.ts'
import { readSources } from '../src/build/source.ts'
import { defaultSize } from '../src/domain/chunk.ts'
import help from '../src/index.ts'
import { Queries } from '../src/search/queries.ts'
import { Reader } from '../src/search/reader.ts'
import { openSqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import { firstInternalId } from '../src/storage/types.ts'
import type { Help } from '../src/store.ts'
import { everybody, type Files, insiders, listPaths, writeFiles } from './help-kit.ts'

t.setTimeout(120_000)

const publicFiles: Files = {
  'docs/guide/hooks.md':
    '# Hooks\n\nA hook runs before the handler. See [errors](errors.md) and [plan](plan.md).',
  'docs/guide/errors.md': '# Errors\n\nAn exception becomes a response with a status.',
  'docs/README.md': '# Overview\n\nThe server answers requests with handlers.',
  'docs/ja/log.md': '# ログ\n\nログレベルを変更する方法。',
}

const texts = ['hook before the handler', 'zanzibar', 'status of an exception', 'fooBar', 'ログ', 'plan']

function openEditions(t: Test, folder: string, data: string) {
  const storages = [openSqliteStorage(data, () => 1), openSqliteStorage(data, () => 1, 'internal')] as const
  const embedding = { provider: 'lsa' } as const
  const readers = storages.map((storage) => new Reader(storage, embedding))
  t.teardown(() => Promise.all(readers.map((reader) => reader.close())))
  const [storage, internal] = storages
  const sources = readSources(['docs=docs', 'internal:docs_dev=docs_dev'], folder)
  const request = { sources, size: defaultSize, embedding, rebuild: false, holder: 'test' }
  const call = { now: () => 1, signal: new AbortController().signal, progress() {} }
  return {
    queries: new Queries(storage, readers[0] as Reader, readers[1]),
    async build() {
      await build({ ...request, edition: 'public' }, { ...call, storage })
      await build({ ...request, edition: 'internal' }, { ...call, storage: internal, base: storage })
    },
  }
}

/** Returns all results that a public caller can receive. */
async function publicAnswers(queries: Queries): Promise<string> {
  const answers: unknown[] = [await queries.readFacts(), await queries.listPages(everybody)]
  for (const text of texts)
    for (const mode of ['hybrid', 'lexical', 'vector'] as const)
      answers.push(
        await queries.search(
          { text, top_n: 10, chunks_per_result: 3, mode, scope: everybody, max_chars: 9000 },
          new AbortController().signal,
        ),
      )
  for (const name of [{ file_path: 'plan.md' }, { file_path: 'gide/hook.md' }, { doc_id: 1 }, { doc_id: 6 }])
    answers.push(
      await queries
        .readPage(name, { from_line: 1, max_lines: 9 }, everybody)
        .catch(({ code, message, data }) => ({ code, message, data })),
    )
  return JSON.stringify(answers)
}

const word = fc.constantFrom('hook', 'handler', 'zanzibar', 'status', 'fooBar', 'ログレベル', 'plan', 'kiwi')
const internalPage = fc.record({
  path: fc.constantFrom('docs_dev/plan.md', 'docs_dev/README.md', 'docs_dev/guide/hooks.md', 'docs/plan.md'),
  words: fc.array(word, { minLength: 1, maxLength: 40 }),
})
const internalPages = fc.array(internalPage, { minLength: 1, maxLength: 5 })

/** Formats internal pages as files. Some are in a public source. */
const toFiles = (pages: readonly { path: string; words: readonly string[] }[]): Files =>
  Object.fromEntries(
    pages.map(({ path, words }) => [
      path,
      `---\ninternal: true\n---\n# ${words[0]}\n\n${words.join(' ')} [x](../docs/guide/hooks.md)`,
    ]),
  )

verifies('help:internal:editions', async (t) => {
  const folder = t.testdir()
  let run = 0
  const prepare = (): { root: string; data: string } => {
    const root = join(folder, String(run++))
    for (const name of ['docs', 'docs_dev', 'data']) mkdirSync(join(root, name), { recursive: true })
    writeFiles(root, publicFiles)
    return { root, data: join(root, 'data') }
  }
  const plain = prepare()
  const without = openEditions(t, plain.root, plain.data)
  await without.build()
  const expected = await publicAnswers(without.queries)
  await fc.assert(
    fc.asyncProperty(internalPages, internalPages, async (first, second) => {
      const { root, data } = prepare()
      writeFiles(root, toFiles(first))
      const { queries, build } = openEditions(t, root, data)
      await build()
      t.equal(await publicAnswers(queries), expected)
      writeFiles(root, toFiles(second))
      await build()
      t.equal(await publicAnswers(queries), expected, 'omits internal pages after a change')
      const all = await queries.listPages(insiders)
      const count = new Set([...first, ...second].map(({ path }) => path)).size
      t.equal(all.filter(({ is_internal }) => is_internal).length, count)
      t.ok(all.every(({ is_internal, doc_id }) => is_internal === doc_id > firstInternalId))
    }),
    { numRuns: process.env.CAUSEWAY_LONG === undefined ? 6 : 200, seed: 24 },
  )
})

verifies('help:internal:editions', 'both editions have the same id for a public page', async (t) => {
  const root = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  writeFiles(root, { ...publicFiles, 'docs_dev/plan.md': '# Plan\n\nkiwi' })
  const { queries, build } = openEditions(t, root, join(root, 'data'))
  await build()
  writeFiles(root, { 'docs/guide/errors.md': '# Errors\n\nRewritten.', 'docs/new.md': '# New\n\npage' })
  rmSync(join(root, 'docs/README.md'))
  await build()
  const ids = async (scope: { internal: boolean }) =>
    (await queries.listPages(scope))
      .filter((doc) => !doc.is_internal)
      .map((doc) => [doc.file_path, doc.doc_id])
  t.same(await ids(insiders), await ids(everybody))
  t.match(await queries.readPage({ file_path: 'plan.md' }, { from_line: 1, max_lines: 9 }, insiders), {
    doc_id: firstInternalId + 1,
    content: /kiwi/,
  })
})

verifies(
  'help:internal:editions',
  'public tools and resources of the app never return internal pages',
  async (t) => {
    const root = t.testdir({ docs: {}, docs_dev: {}, data: {} })
    writeFiles(root, publicFiles)
    const settings = {
      helpInternal: true,
      helpSources: [`docs=${join(root, 'docs')}`, `internal:docs_dev=${join(root, 'docs_dev')}`],
    }
    const app = await openForTest(help, { dir: join(root, 'data'), settings, now: () => 1 })
    t.teardown(() => app.close())
    const store = app.store as Help
    const client = app.client()
    const refused = ({ code, message, data }: { code: string; message: string; data: unknown }) => ({
      code,
      message,
      data,
    })
    const answers = async () =>
      JSON.stringify([
        await store.health(),
        ...(await Promise.all([
          client.call('find_help_topics', { text: 'zanzibar hook' }),
          client.call('find_help_topics', { text: 'kiwi', source: 'docs_dev' }).catch(refused),
          client.call('search_help_by_section', { text: 'status', section: 'Guide' }),
          client.call('search_help_by_section', { text: 'status', section: 'Plan' }).catch(refused),
          client.call('get_help_document', { file_path: 'plan.md' }).catch(refused),
          client.call('list_help_sections'),
          client.read('help://llms.txt'),
          client.read('help://doc/5').catch(refused),
          client.read('help://section/Plan').catch(refused),
        ])),
      ])
    await store.build()
    const before = await answers()
    const changes = app.changes.length
    writeFiles(root, {
      'docs_dev/plan.md': '# Plan\n\nzanzibar kiwi hook',
      'docs_dev/plan/b.md': '# B\n\nkiwi',
    })
    await store.build()
    t.equal(await answers(), before)
    t.equal(app.changes.length, changes, 'sends no notification')
    const found = await client.call('find_help_topics', { text: 'kiwi', include_internal: true })
    t.match(found.results, [{ is_internal: true }, { is_internal: true }])
  },
)

const readAll = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

verifies('help:internal:off', async (t) => {
  const root = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  writeFiles(root, {
    ...publicFiles,
    'docs/closed.md': '---\ninternal: true\n---\n# Closed\n\nmarsupialcanary',
    'docs_dev/plan.md': '# Plan\n\nmarsupialcanary',
  })
  const run = (helpInternal: boolean) =>
    openMaintenance({
      dir: join(root, 'data'),
      settings: { helpInternal, helpSources: ['docs=docs', 'internal:docs_dev=docs_dev'] },
      cwd: root,
    }).build(false)
  await run(false)
  t.notMatch(readAll(join(root, 'data')), /marsupialcanary/)
  await run(true)
  t.match(readAll(join(root, 'data')), /marsupialcanary/)
  await run(false)
  t.notMatch(readAll(join(root, 'data/help')), /marsupialcanary/, 'deletes the internal edition')
})

verifies('help:internal:off', 'internal pages are removed from an index of an earlier version', async (t) => {
  const root = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  writeFiles(root, { ...publicFiles, 'docs_dev/plan.md': '# Plan\n\nmarsupialcanary' })
  const storage = openSqliteStorage(join(root, 'data'))
  t.teardown(() => storage.close())
  const sources = readSources(['docs=docs', 'internal:docs_dev=docs_dev'], root)
  const request = { sources, size: defaultSize, embedding: { provider: 'lsa' }, rebuild: false } as const
  const context = { storage, now: Date.now, signal: new AbortController().signal, progress() {} }
  await build({ ...request, holder: 'earlier' }, context)
  t.equal((await storage.listKnownPages()).length, 5)
  const { revision } = await build({ ...request, holder: 'now', edition: 'public' }, context)
  t.equal((await storage.listKnownPages()).length, 4)
  t.notMatch(readFileSync(join(root, `data/help/index-${revision}.db`), 'latin1'), /marsupialcanary/)
})

t.test('an internal search returns public and internal pages', async (t) => {
  const root = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  writeFiles(root, { 'docs/a.md': '# Kiwi', 'docs_dev/b.md': '# Kiwi' })
  const { queries, build } = openEditions(t, root, join(root, 'data'))
  await build()
  const request = { text: 'kiwi', top_n: 9, chunks_per_result: 1, mode: 'lexical', max_chars: 999 } as const
  const search = async (scope: { internal: boolean }) =>
    listPaths(await queries.search({ ...request, scope }, new AbortController().signal)).sort()
  t.same(await search(insiders), ['docs/a.md', 'docs_dev/b.md'])
  t.same(await search(everybody), ['docs/a.md'])
})
