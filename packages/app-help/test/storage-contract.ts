/** The contract of every storage, which the tests of each storage run. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { type BuildRequest, build } from '../src/build/build.ts'
import { readSources } from '../src/build/source.ts'
import { defaultSize } from '../src/domain/chunk.ts'
import { exportPublic } from '../src/export/export.ts'
import { Queries } from '../src/search/queries.ts'
import { Reader } from '../src/search/reader.ts'
import { makeHolder } from '../src/storage/lock-holder.ts'
import type { HelpStorage } from '../src/storage/types.ts'
import { everybody, insiders, listPaths, writeFiles } from './help-kit.ts'

/** Opens an empty storage with the clock `now`. */
export type OpenStore = (t: Test, folder: string, now: () => number) => Promise<HelpStorage>

const filler = (word: string): string => `${word} `.repeat(25)

const files = {
  'docs/guide/hooks.md': `# Hooks\n\nA hook runs before the handler. ${filler('lifecycle')}\n\n## Order\n\n${filler('sequence')}`,
  'docs/guide/errors.md': `# Errors\n\nAn exception becomes a response. FST_ERR_BODY is one. ${filler('failure')}`,
  'docs/README.md': `# Readme\n\n${filler('overview')}`,
  'docs/ja/log.md': '# ログ\n\nログレベルを変更する方法。',
  'docs_dev/README.md': `# Internal\n\nThe quokka plan. ${filler('secretly')}`,
}

export function storageContract(name: string, t: Test, open: OpenStore): void {
  const setUp = async (t: Test) => {
    const folder = t.testdir({ docs: {}, docs_dev: {}, data: {} })
    writeFiles(folder, files)
    const clock = { now: 1_000_000 }
    const storage = await open(t, join(folder, 'data'), () => clock.now)
    const embedding = { provider: 'lsa' } as const
    const reader = new Reader(storage, embedding)
    t.teardown(() => reader.close())
    const questions = new Queries(storage, reader)
    const { signal } = new AbortController()
    const tools = { storage, now: () => clock.now, signal, progress() {} }
    const sources = readSources(['docs=docs', 'internal:docs_dev=docs_dev'], folder)
    return {
      folder,
      clock,
      storage,
      questions,
      tools,
      build: (more: Partial<BuildRequest> = {}) =>
        build({ sources, size: defaultSize, embedding, rebuild: false, holder: 'test', ...more }, tools),
      ask: (text: string, more: object = {}) =>
        questions.search(
          {
            text,
            top_n: 10,
            chunks_per_result: 3,
            mode: 'hybrid',
            scope: everybody,
            max_chars: 20_000,
            ...more,
          },
          signal,
        ),
    }
  }

  t.test(`${name}: an empty storage does not contain an index`, async (t) => {
    const { storage, ask } = await setUp(t)
    t.equal(await storage.readRevision(), 0)
    t.equal(await storage.open(), undefined)
    t.same(await storage.listKnownPages(), [])
    await t.rejects(ask('hook'), { code: 'HELP_NOT_BUILT' })
  })

  t.test(`${name}: a built index finds pages by words, names and meaning, and returns facts`, async (t) => {
    const { questions, build, ask } = await setUp(t)
    t.match(await build(), { added: 5, failed: [] })
    t.match(await questions.readFacts(), {
      docs: 5,
      internal_docs: 1,
      chunking: '1:1600:200',
      space: { provider: 'lsa' },
      sources: [
        { source: 'docs', docs: 4 },
        { source: 'docs_dev', docs: 1 },
      ],
    })
    t.equal(listPaths(await ask('what runs before a handler'))[0], 'docs/guide/hooks.md')
    t.equal(listPaths(await ask('FST_ERR_BODY'))[0], 'docs/guide/errors.md')
    t.equal(listPaths(await ask('ログレベルの変更'))[0], 'docs/ja/log.md')
    t.equal(listPaths(await ask('lifecycle', { mode: 'vector' }))[0], 'docs/guide/hooks.md')
    const found = await ask('lifecycle')
    t.match(found, { mode: 'hybrid', degraded: undefined })
    t.ok((found.results[0]?.avg_similarity ?? 0) > 0)
    t.same(listPaths(await ask('xylophone', { mode: 'lexical' })), [])
  })

  t.test(`${name}: a query is never parsed as syntax`, async (t) => {
    const { build, ask } = await setUp(t)
    await build()
    for (const text of [
      '"',
      "'; DROP TABLE help_docs; --",
      'a & b | !c',
      'NEAR(',
      ':*',
      '\\',
      '日本',
      '🙂 <->',
      '\0',
    ])
      await t.resolves(ask(text), JSON.stringify(text))
    t.equal(listPaths(await ask('hook'))[0], 'docs/guide/hooks.md')
  })

  t.test(`${name}: a scope restricts every query`, async (t) => {
    const { questions, build, ask } = await setUp(t)
    await build()
    t.same(listPaths(await ask('quokka plan', { mode: 'lexical' })), [])
    t.same(listPaths(await ask('quokka plan', { mode: 'lexical', scope: insiders })), ['docs_dev/README.md'])
    const guide = await ask('response', { scope: { internal: false, section: 'GUIDE' } })
    t.ok(guide.results.every(({ section }) => section === 'Guide'))
    const japanese = await ask('ログ', { scope: { internal: false, language: 'ja' } })
    t.same(listPaths(japanese), ['docs/ja/log.md'])
    const hidden = (await questions.listPages(insiders)).find(({ is_internal }) => is_internal)
    const lines = { from_line: 1, max_lines: 10 }
    await t.rejects(questions.readPage({ doc_id: hidden?.doc_id ?? 0 }, lines, everybody), {
      code: 'HELP_DOC_NOT_FOUND',
    })
    t.match(await questions.readPage({ doc_id: hidden?.doc_id ?? 0 }, lines, insiders), { content: /quokka/ })
    t.same(
      (await questions.listPages(everybody)).map(({ section, file_path }) => [section, file_path]),
      [
        ['Guide', 'guide/errors.md'],
        ['Guide', 'guide/hooks.md'],
        ['Ja', 'ja/log.md'],
        ['Overview', 'README.md'],
      ],
    )
  })

  t.test(`${name}: a page is found by the words around links to it`, async (t) => {
    const { folder, build, ask } = await setUp(t)
    writeFiles(folder, {
      'docs/index.md':
        '# Contents\n\n- [Hooks](./guide/hooks.md): the narwhal chapter\n- [Gone](gone.md) walrus',
      'docs_dev/links.md':
        '# Notes\n\nThe dugong is [described](../docs/guide/hooks.md), see [plan](README.md): manatee.',
    })
    await build()
    const found = (await ask('narwhal', { mode: 'lexical' })).results
    t.same(found.map(({ file_path }) => file_path).sort(), ['guide/hooks.md', 'index.md'])
    t.equal(found.find(({ file_path }) => file_path === 'guide/hooks.md')?.ranks.link, 1)
    t.ok(found.every(({ chunks }) => chunks.length > 0))
    t.same(listPaths(await ask('dugong manatee', { mode: 'lexical' })), [], 'ignores links of internal pages')
    t.same(listPaths(await ask('manatee', { mode: 'lexical', scope: insiders })).sort(), [
      'docs_dev/README.md',
      'docs_dev/links.md',
    ])
    writeFiles(folder, { 'docs/index.md': '# Contents' })
    await build()
    t.same(listPaths(await ask('narwhal', { mode: 'lexical' })), [], 'has no hit without a link')
  })

  t.test(
    `${name}: an edit removes a page's old chunks, retains its id and creates one revision`,
    async (t) => {
      const { folder, storage, questions, build, ask } = await setUp(t)
      await build()
      const before = await storage.readRevision()
      const id = (await questions.listPages(everybody)).find(({ title }) => title === 'Hooks')?.doc_id
      writeFiles(folder, { 'docs/guide/hooks.md': '# Hooks\n\nNow about wombats.' })
      t.match(await build(), { updated: 1, unchanged: 4 })
      t.equal(await storage.readRevision(), before + 1)
      t.same(listPaths(await ask('lifecycle sequence', { mode: 'lexical' })), [])
      t.match((await ask('wombats')).results[0], {
        doc_id: id,
        items: 1,
        chunks: [{ start_line: 1, end_line: 3 }],
      })
      t.match(await build(), { updated: 0, unchanged: 5, revision: before + 1 })
      t.match(await build({ rebuild: true }), { added: 5 })
      t.equal((await questions.readFacts()).docs, 5)
    },
  )

  t.test(`${name}: a failed publication does not change the index`, async (t) => {
    const { storage, ask, build } = await setUp(t)
    await build()
    const revision = await storage.readRevision()
    const [page] = await storage.listKnownPages()
    // A storage never accepts a public chunk of an internal page.
    const wrong = {
      ...page,
      title: 'x',
      section: 'x',
      language: 'en',
      body: 'x',
      is_internal: true,
      text_hashes: [null],
      chunks: [{ position: 0, text: null }],
    }
    const change = {
      fresh: false,
      removed: [page?.doc_id ?? 0],
      pages: [wrong],
      chunking: 'x',
      vectors: 'keep',
    }
    await t.rejects(storage.publish(change as never))
    t.equal(await storage.readRevision(), revision)
    t.equal(listPaths(await ask('what runs before a handler'))[0], 'docs/guide/hooks.md')
  })

  t.test(`${name}: only one build runs at a time`, async (t) => {
    const { storage, clock, build } = await setUp(t)
    const lock = await storage.lock('another')
    await t.rejects(build(), { code: 'HELP_BUILD_RUNNING' })
    await t.resolves(lock.renew())
    clock.now += 61_000
    await build()
    await t.resolves(lock.release())
    const own = JSON.parse(makeHolder('own'))
    const alive = await storage.lock(JSON.stringify(own))
    await t.rejects(
      build(),
      { code: 'HELP_BUILD_RUNNING' },
      'does not take over the lock of a running process',
    )
    await alive.release()
    await storage.lock(JSON.stringify([own[0], own[1], 'an earlier process with this id', 'x']))
    await t.resolves(build(), 'takes over the lock of a dead process')
    await storage.lock(JSON.stringify(['another machine', own[1], 'x', 'x']))
    await t.rejects(build(), { code: 'HELP_BUILD_RUNNING' }, 'does not take over the lock of another machine')
  })

  t.test(`${name}: cached vectors are stored by space, and a new storage has no report`, async (t) => {
    const { storage } = await setUp(t)
    const vector = Float32Array.from([0.25, -1])
    await storage.cacheVectors('space', new Map([['a', vector]]))
    await storage.cacheVectors('space', new Map([['a', vector]]))
    t.same([...(await storage.readCachedVectors('space', ['a', 'b']))], [['a', vector]])
    t.equal((await storage.readCachedVectors('other', ['a'])).size, 0)
    t.equal(await storage.readLastReport(), undefined)
  })

  t.test(`${name}: an export contains the public pages`, async (t) => {
    const { folder, tools, build } = await setUp(t)
    await build()
    t.match(await exportPublic(join(folder, 'out'), { ...tools, newId: () => 'a'.repeat(32) }), {
      docs_count: 4,
    })
  })
}
