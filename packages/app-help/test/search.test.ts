import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import fc from 'fast-check'
import t from 'tap'
import { evaluate, type Way, ways } from '../../../bench/help/evaluate.ts'
import { tunedSet } from '../../../bench/help/questions.ts'
import { readBaseline, webSet } from '../../../bench/help.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import type { Help } from '../src/store.ts'
import { describeIndexing, hideInternal, toScope } from '../src/tools/shape.ts'
import { everybody, insiders, library, listPaths } from './help-kit.ts'

t.setTimeout(300_000)

const filler = (word: string): string => `${word} `.repeat(30)

const topics = [
  'sailing',
  'parsing',
  'cooking',
  'routing',
  'painting',
  'logging',
  'testing',
  'caching',
  'hashing',
  'singing',
  'running',
  'reading',
]
const pages = Object.fromEntries(
  topics.map((topic) => [
    `docs/guide/${topic}.md`,
    `# About ${topic}\n\n${filler(topic)}\n\n## Tools for ${topic}\n\n${filler(`${topic} tool`)}\n\n## Shared\n\n${filler('everything')}`,
  ]),
)

verifies('help:search:grouped', async (t) => {
  const help = library(t, pages)
  await help.build()
  const found = await help.ask('everything', { top_n: 12, chunks_per_result: 1, mode: 'lexical' })
  t.equal(found.results.length, 12, 'returns all matching pages, regardless of the number of their chunks')
  for (const { chunks } of found.results) t.equal(chunks.length, 1)
  const wide = await help.ask('caching', { top_n: 1, chunks_per_result: 3 })
  t.same(
    wide.results.map(({ title, chunks }) => [title, chunks.map(({ position }) => position)]),
    [['About caching', [0, 1, 2].slice(0, wide.results[0]?.chunks.length)]],
    'sorts chunks by their position in the page',
  )
  const scores = found.results.map(({ score }) => score)
  t.same(
    scores,
    scores.toSorted((a, b) => b - a),
    'sorts pages by the fused score',
  )
})

verifies('help:search:range', async (t) => {
  const help = library(t, {
    ...pages,
    'docs/long.md': `# Long\n\n${'word '.repeat(900)}\n\n${filler('everything')}\n\n\`\`\`js\n${'everything()\n'.repeat(300)}\`\`\``,
  })
  await help.build()
  const { results } = await help.ask('everything word', {
    top_n: 20,
    chunks_per_result: 10,
    max_chars: 200_000,
  })
  let checked = 0
  for (const { doc_id, chunks } of results) {
    const { content } = await help.questions.readPage(
      { doc_id },
      { from_line: 1, max_lines: 100_000 },
      everybody,
    )
    const lines = content.split('\n')
    for (const { start_line, end_line, columns, text } of chunks) {
      const range = lines.slice(start_line - 1, end_line)
      t.equal(columns === undefined ? range.join('\n') : range[0]?.slice(...columns), text)
      checked++
    }
  }
  t.ok(checked > 15)
})

verifies('help:search:grouped', 'every page in the results has chunks', async (t) => {
  const help = library(t, pages)
  await help.build()
  const { results } = await help.ask('sailing tool everything', { top_n: 12, chunks_per_result: 2 })
  for (const { chunks, title } of results) t.ok(chunks.length > 0, title)
})

verifies('help:search:section', async (t) => {
  const help = library(t, {
    ...pages,
    'docs/rare/only.md': `# Only\n\nOne mention of everything.`,
  })
  await help.build()
  const found = await help.ask('everything', { top_n: 3, scope: { internal: false, section: 'RARE' } })
  t.same(listPaths(found), ['docs/rare/only.md'], 'searches within a small section')
  await t.rejects(help.ask('everything', { scope: { internal: false, section: 'gide' } }), {
    code: 'HELP_SECTION_NOT_FOUND',
    data: { nearest: ['Guide'] },
  })
})

verifies('help:search:identifier', async (t) => {
  const help = library(t, {
    'docs/a.md': `# Serialization\n\nThe hook preSerialization runs late. ${filler('payload')}`,
    'docs/b.md': `# Before\n\n${filler('pre serialization of values, serialization before')}`,
    'docs/c.md': `# Codes\n\nFST_ERR_BODY means that the body was wrong.`,
    'docs/d.md': `# Body\n\n${filler('err body fst')}`,
  })
  await help.build()
  t.equal(listPaths(await help.ask('when does preSerialization run'))[0], 'docs/a.md')
  t.equal(listPaths(await help.ask('FST_ERR_BODY'))[0], 'docs/c.md')
  const [best] = (await help.ask('FST_ERR_BODY')).results
  t.equal(best?.ranks.identifier, 1)
})

verifies('help:search:parts', async (t) => {
  const help = library(t, {
    'docs/server.md': `# Options\n\n### bodyLimit\n\n${filler('bytes')}`,
    'docs/other.md': `# Other\n\n${filler('bytes')}`,
  })
  await help.build()
  t.same(listPaths(await help.ask('limit for a body', { mode: 'lexical' })), ['docs/server.md'])
})

verifies('help:search:links', async (t) => {
  const help = library(t, {
    'docs/index.md': '# Contents\n\n- [Hooks](hooks.md): the narwhal chapter',
    'docs/hooks.md': `# Hooks\n\n${filler('lifecycle')}`,
    'docs_dev/plan.md': '# Plan\n\n[Hooks](../docs/hooks.md) are for the dugong.',
    'docs/secret.md': '---\ninternal: true\n---\n# Secret\n\n[Hooks](hooks.md) are for the manatee.',
  })
  await help.build()
  t.same(listPaths(await help.ask('narwhal', { mode: 'lexical' })).sort(), ['docs/hooks.md', 'docs/index.md'])
  for (const scope of [everybody, insiders])
    t.equal(
      listPaths(await help.ask('manatee', { mode: 'lexical', scope })).includes('docs/hooks.md'),
      scope.internal,
      'ignores links of internal pages',
    )
  t.same(listPaths(await help.ask('dugong', { mode: 'lexical' })), [])
})

verifies(
  'help:search:links',
  'an index of an earlier version works without links until a build adds them',
  async (t) => {
    const files = {
      'docs/index.md': '# Contents\n\n[Hooks](hooks.md) narwhal',
      'docs/hooks.md': '# Hooks\n\nLifecycle',
    }
    const help = library(t, files)
    await help.build()
    const file = join(help.data, 'help', `index-${await help.storage.readRevision()}.db`)
    const db = new BetterSqlite3(file)
    db.exec('DROP TABLE help_fts_link; DROP TABLE help_links')
    db.close()
    t.same(listPaths(await help.ask('narwhal', { mode: 'lexical' })), ['docs/index.md'])
    help.write({ 'docs/index.md': '# Contents\n\n[Hooks](hooks.md) narwhals' })
    await help.build()
    t.same(listPaths(await help.ask('narwhal', { mode: 'lexical' })).sort(), [
      'docs/hooks.md',
      'docs/index.md',
    ])
  },
)

verifies('help:search:budget', async (t) => {
  const help = library(t, pages)
  await help.build()
  const found = await help.ask('everything', { top_n: 12, chunks_per_result: 3, max_chars: 1000 })
  const characters = found.results
    .flatMap(({ chunks }) => chunks)
    .reduce((sum, { text }) => sum + text.length, 0)
  t.ok(characters <= 1000 && characters > 0, `${characters} characters`)
  t.equal(found.truncated, true)
})

verifies('help:search:cjk', async (t) => {
  const help = library(t, {
    'docs/ja/log.md': '# ログの設定\n\nログレベルを変更するには設定ファイルを編集します。',
    'docs/ja/start.md': '# 起動\n\nサーバーを起動する手順です。',
    'docs/zh/body.md': '# 请求体\n\n请求体的大小可以在配置文件中修改。',
    'docs/zh/cache.md': '# 缓存\n\n缓存存储响应以便以后使用。',
    'docs/ko/start.md': '# 서버 시작\n\n서버를 시작하려면 설정 파일을 편집합니다.',
    'docs/en.md': `# English\n\n${filler('text')}`,
  })
  await help.build()
  const first = async (text: string) => listPaths(await help.ask(text))[0]
  t.equal(await first('ログレベルの変更'), 'docs/ja/log.md')
  t.equal(await first('サーバー 起動'), 'docs/ja/start.md')
  t.equal(await first('怎样修改请求体大小'), 'docs/zh/body.md')
  t.equal(await first('缓存'), 'docs/zh/cache.md')
  t.equal(await first('서버 시작 방법'), 'docs/ko/start.md')
  const japanese = await help.ask('設定', { scope: { internal: false, language: 'ja' } })
  t.ok(japanese.results.every(({ language }) => language === 'ja'))
})

verifies('help:search:records', async (t) => {
  const help = library(t, {
    'docs/decisions/0001-cache.md':
      '# 1. Cache responses\n\nResponses are cached, because requests are slow. The cache is small.',
    'docs/cache.md': `# Settings\n\nThe cache of responses has a size. ${filler('setting')}`,
  })
  await help.build()
  t.equal(listPaths(await help.ask('cache of responses'))[0], 'docs/cache.md')
  t.equal(
    listPaths(await help.ask('decision about the cache of responses'))[0],
    'docs/decisions/0001-cache.md',
  )
})

verifies('help:search:fuzz', async (t) => {
  const help = library(t, { ...pages, 'docs_dev/x.md': '# Internal\n\nkept' })
  await help.build()
  const syntax = fc.constantFrom(
    '"',
    '*',
    'NEAR(',
    ')',
    '-',
    ':',
    '^',
    'AND',
    'OR',
    'NOT',
    '{',
    '}',
    '+',
    ',',
    '\\',
    '\0',
    "'",
    ';',
    '--',
    'title:',
    '日本',
    '🙂',
    '\ud800',
  )
  const text = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.array(syntax, { maxLength: 20 }).map((parts) => parts.join(' ')),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom('hybrid', 'lexical', 'vector'), async (asked, mode) => {
      const { results } = await help.ask(asked, { mode: mode as 'hybrid' })
      if (results.some(({ is_internal }) => is_internal)) throw new Error('an internal page')
    }),
    { numRuns: process.env.CAUSEWAY_LONG ? 20_000 : 500 },
  )
  t.pass('returns results for every text')
})

verifies('help:internal:scope', async (t) => {
  const help = library(t, {
    'docs/a.md': '# Open\n\nabout the quokka',
    'docs/b.md': '---\ninternal: true\n---\n# Closed\n\nabout the quokka',
    'docs_dev/c.md': '# Hidden\n\nabout the quokka',
  })
  await help.build()
  t.same(listPaths(await help.ask('quokka')), ['docs/a.md'])
  t.equal((await help.ask('quokka', { scope: insiders })).results.length, 3)
  const hidden = (await help.questions.listPages(insiders)).filter(({ is_internal }) => is_internal)
  t.equal(hidden.length, 2)
  for (const { doc_id, file_path, source } of hidden) {
    const lines = { from_line: 1, max_lines: 10 }
    await t.rejects(help.questions.readPage({ doc_id }, lines, everybody), {
      code: 'HELP_DOC_NOT_FOUND',
      data: { nearest: [] },
    })
    const refusal = await help.questions
      .readPage({ file_path, source }, lines, everybody)
      .catch((error) => error)
    t.notMatch(JSON.stringify(refusal.data.nearest), /docs_dev|"b\.md"/, 'suggests no internal page')
  }
  await t.rejects(help.ask('quokka', { scope: { internal: false, section: 'docs_dev' } }), {
    code: 'HELP_SECTION_NOT_FOUND',
  })
})

verifies('help:document:lines', async (t) => {
  const help = library(t, {
    'docs/long.md': Array.from({ length: 50 }, (_, i) => `line ${i + 1}`).join('\n'),
  })
  await help.build()
  const page = (from_line: number, max_lines: number) =>
    help.questions.readPage({ file_path: 'long.md' }, { from_line, max_lines }, everybody)
  t.match(await page(1, 2), { content: 'line 1\nline 2', start_line: 1, end_line: 2, total_lines: 50 })
  t.match(await page(49, 10), { content: 'line 49\nline 50', end_line: 50 })
  t.match(await page(400, 10), { content: 'line 50' })
  const whole = (await page(1, 1000)).content
  t.equal(whole.split('\n').length, 50, 'repeats no line')
  await t.rejects(
    help.questions.readPage({ file_path: 'lnog.md' }, { from_line: 1, max_lines: 1 }, everybody),
    {
      code: 'HELP_DOC_NOT_FOUND',
      data: { nearest: [{ file_path: 'long.md' }] },
    },
  )
})

verifies(
  'help:quality',
  inCI(async (t) => {
    const folder = t.testdir()
    t.ok(webSet.questions.length >= 200)
    const { hybrid, ...others } = await evaluate(folder, webSet)
    t.ok(hybrid.hit5 >= 0.82, `hit@5 ${hybrid.hit5}`)
    t.ok(hybrid.hit10 >= 0.89, `hit@10 ${hybrid.hit10}`)
    t.ok(hybrid.mrr >= 0.66, `MRR ${hybrid.mrr}`)
    for (const [way, { hit5, mrr }] of Object.entries(others)) {
      t.ok(hybrid.hit5 >= hit5, `hit@5 is at least that of ${way}: ${hit5}`)
      t.ok(hybrid.mrr >= mrr, `MRR is at least that of ${way}: ${mrr}`)
    }
    const scores = await evaluate(folder, tunedSet)
    const baseline = readBaseline()
    for (const way of Object.keys(ways) as Way[])
      for (const figure of ['hit1', 'hit5', 'hit10', 'mrr'] as const)
        t.ok(scores[way][figure] >= baseline[way][figure] * 0.95, `${way} ${figure}: ${scores[way][figure]}`)
  }),
)

/** Returns the parts of `Help` that the functions use. */
const help = (internal: boolean, progress?: ReturnType<Help['getBuildProgress']>): Help =>
  ({ settings: { internal }, getBuildProgress: () => progress }) as unknown as Help

verifies('help:indexing', async (t) => {
  t.same(describeIndexing(help(false)), {})
  t.same(describeIndexing(help(false, { done: 3, total: 9, message: 'reading pages' })), {
    indexing: 'the documentation is being indexed: reading pages, 3 of 9',
  })
  t.same(describeIndexing(help(false, { done: 0, total: null, message: 'starting' })), {
    indexing: 'the documentation is being indexed: starting',
  })
})

t.test('internal pages are included only if the operator allows them', async (t) => {
  t.throws(() => toScope(help(false), { include_internal: true }), { code: 'HELP_INTERNAL_FORBIDDEN' })
  t.same(toScope(help(true), { include_internal: true, section: 'x' }), { internal: true, section: 'x' })
  t.same(hideInternal(help(false), { is_internal: false, a: 1 }), { a: 1 })
  t.same(hideInternal(help(true), { is_internal: true, a: 1 }), { is_internal: true, a: 1 })
})
