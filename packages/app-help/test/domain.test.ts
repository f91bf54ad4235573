import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { splitBlocks } from '../src/domain/block.ts'
import { limitText } from '../src/domain/budget.ts'
import { type Chunk, defaultSize, splitChunks } from '../src/domain/chunk.ts'
import { fuse } from '../src/domain/fuse.ts'
import { extractWords } from '../src/domain/index-text.ts'
import { formatLlmsText } from '../src/domain/llms-text.ts'
import { findNearestNames } from '../src/domain/nearest-name.ts'
import { cutNeedles, findNeedles } from '../src/domain/needles.ts'
import { deriveSection, deriveTitle, readPage } from '../src/domain/page.ts'
import { findPageLinks } from '../src/domain/page-link.ts'
import { findNamedSources, rankByWeight, weighPage } from '../src/domain/page-weight.ts'
import {
  formatFtsExpression,
  isMostlyUnspaced,
  listIdentifierTerms,
  listWordTerms,
  readQuestion,
} from '../src/domain/query.ts'
import { splitSections } from '../src/domain/section.ts'

const cut = (text: string, size = defaultSize): Chunk[] => splitChunks(text.split('\n'), 0, size)

/** Returns the text of the lines and columns of a chunk. */
function slice(text: string, { start_line, end_line, columns }: Chunk): string {
  const lines = text.split('\n').slice(start_line - 1, end_line)
  return columns === null ? lines.join('\n') : (lines[0] ?? '').slice(...columns)
}

verifies('help:chunk:range', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      '# One',
      '## Two',
      '```js',
      '```',
      '| a | b |',
      '---',
      '    # code',
      '<!-- x',
      '-->',
      '日本語の文章。',
    ),
    fc.string({ maxLength: 300 }),
    fc.string({ minLength: 1500, maxLength: 4000 }),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const text = lines.join('\n').replaceAll('\r', ' ')
      for (const chunk of cut(text)) {
        if (slice(text, chunk) !== chunk.text)
          throw new Error(`lines ${chunk.start_line} to ${chunk.end_line}`)
        if (chunk.text.length > defaultSize.size) throw new Error(`${chunk.text.length} characters`)
      }
    }),
    { numRuns: process.env.CAUSEWAY_LONG ? 5000 : 300 },
  )
})

verifies('help:chunk:whole', async (t) => {
  const line = fc.string({ minLength: 1, maxLength: 200 }).filter((text) => text.trim() !== '')
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 80 }), (lines) => {
      const found = new Set(cut(lines.join('\n')).flatMap((one) => readRange(one)))
      for (const [at] of lines.entries())
        if (!found.has(at + 1)) throw new Error(`line ${at + 1} is in no piece`)
    }),
    { numRuns: process.env.CAUSEWAY_LONG ? 2000 : 200 },
  )
  t.pass('every line that is not blank is in a chunk')
})

const readRange = ({ start_line, end_line }: Chunk): number[] =>
  Array.from({ length: end_line - start_line + 1 }, (_, i) => start_line + i)

verifies('help:chunk:fence', async (t) => {
  const text = [
    '# Install',
    '',
    'Do this:',
    '',
    '```sh',
    '# not a heading',
    'npm i',
    '```',
    '',
    '## Use',
    '',
    'x'.repeat(300),
  ].join('\n')
  t.same(
    splitSections(splitBlocks(text.split('\n'))).map(({ path }) => path.join(' > ')),
    ['Install', 'Install > Use'],
  )
  const long = [
    '# Code',
    '```js',
    ...Array.from({ length: 12 }, (_, i) => `line(${i}) // ${'y'.repeat(60)}`),
    '```',
    '',
    'z'.repeat(1000),
  ].join('\n')
  const withFence = cut(long).find(({ text: piece }) => piece.includes('line(0)'))
  t.match(withFence?.text, /```js[\s\S]*line\(11\)[\s\S]*```/, 'does not split a fence that fits')
})

verifies('help:chunk:fence', 'each chunk of a split fence has the language of the fence', async (t) => {
  const code = [
    '# Big',
    '```ts',
    ...Array.from({ length: 100 }, (_, i) => `const value${i} = ${'1'.repeat(40)}`),
    '```',
  ].join('\n')
  const inside = cut(code).filter(({ text }) => text.startsWith('const'))
  t.ok(inside.length > 2)
  for (const { fence } of inside) t.equal(fence, 'ts')
})

t.test('chunks have a heading path, an anchor and a level', async (t) => {
  const text = `# Guide\n\n${'a '.repeat(150)}\n\n## Get \`started\`\n\n${'b '.repeat(150)}\n\n## Get started\n\n${'c '.repeat(150)}`
  t.same(
    cut(text).map(({ heading, anchor, heading_level }) => [heading, anchor, heading_level]),
    [
      ['Guide', 'guide', 1],
      ['Guide > Get started', 'get-started', 2],
      ['Guide > Get started', 'get-started-1', 2],
    ],
  )
})

t.test('splitChunks uses the explicit id of a heading as its anchor', async (t) => {
  const text = `# Set-up {#install}\n\n${'word '.repeat(60)}\n\nUse {#not}\n---\n\n${'word '.repeat(60)}\n\n## A {b}\n\n${'x '.repeat(150)}`
  t.same(
    cut(text).map(({ heading, anchor }) => [heading, anchor]),
    [
      ['Set-up', 'install'],
      ['Set-up > Use', 'not'],
      ['Set-up > A {b}', 'a-b'],
    ],
  )
})

t.test('splitChunks merges a short section with the next one unless its level is higher', async (t) => {
  const text = `# A\n\nshort\n\n## B\n\n${'b '.repeat(200)}\n\n### C\n\ntiny\n\n# D\n\n${'d '.repeat(200)}`
  t.same(
    cut(text).map(({ heading }) => heading),
    ['A > B', 'A > B > C', 'D'],
  )
})

t.test('chunks overlap by at most the limit', async (t) => {
  const paragraphs = Array.from({ length: 40 }, (_, i) => `paragraph ${i} ${'w '.repeat(50)}`)
  const pieces = cut(`# A\n\n${paragraphs.join('\n\n')}`)
  for (const [i, piece] of pieces.slice(1).entries()) {
    const shared = (pieces[i]?.end_line ?? 0) - piece.start_line + 1
    t.ok(shared >= 0 && shared <= 4, `${shared} lines`)
  }
})

t.test('splitBlocks parses setext headings, comments and tables', async (t) => {
  const text = ['Title', '=====', '', '<!--', '# hidden', '-->', 'Sub', '---', '| a |', '| - |', 'text'].join(
    '\n',
  )
  t.same(
    splitBlocks(text.split('\n')).map(({ kind, title }) => title ?? kind),
    ['Title', 'blank', 'text', 'Sub', 'table', 'text'],
  )
})

t.test('splitChunks returns an empty list for an empty page', async (t) => {
  t.same(cut(''), [])
  t.same(cut('\n\n  \n'), [])
})

const page = (body: string, file_path = 'a.md', source = 'docs') =>
  readPage({ body, file_path, source, is_internal: false }, defaultSize)

verifies('help:page:front-matter', async (t) => {
  const read = page(
    '---\ntitle: "A title"\nsection: Guides\nlang: JA\ninternal: true\n---\n# Heading\n\ntext',
  )
  t.match(read, { title: 'A title', section: 'Guides', language: 'ja', is_internal: true })
  t.equal(read.chunks[0]?.start_line, 7, 'lines count from the start of the file')
})

verifies('help:page:front-matter', 'malformed front matter is skipped', async (t) => {
  t.match(page('---\ntitle: [torn\n---\n# Heading'), { title: 'Heading', is_internal: false })
  t.match(page('---\nno end'), { title: 'A' })
  t.match(page('---\na: &a [*a]\n---\n# H'), { title: 'H' })
})

t.test('readPage takes the title from a heading of level 1, another heading, or the path', async (t) => {
  t.equal(page('## Second\n\n# First').title, 'First')
  t.equal(page('<h1>Html</h1>\n\n## Hooks').title, 'Hooks')
  t.equal(page('text', 'guides/getting-started.md').title, 'Guides - Getting Started')
})

t.test('deriveSection returns the first folder with the package, or a default', async (t) => {
  t.equal(deriveSection('docs', 'user-guide/a/b.md'), 'User Guide')
  t.equal(deriveSection('pkg:fastify', 'docs/Reference/Hooks.md'), 'Fastify Reference')
  t.equal(deriveSection('docs', 'README.md'), 'Overview')
  t.equal(deriveSection('docs', 'CHANGELOG.md'), 'Updates')
  t.equal(deriveSection('docs', 'other.md'), 'General')
  t.equal(deriveTitle('a_b.md'), 'A B')
})

verifies('help:page:language', async (t) => {
  t.equal(page('text', 'ja/a.md').language, 'ja')
  t.equal(page('# ログの設定\n\nログレベルを変更するには設定ファイルを編集します。').language, 'ja')
  t.equal(page('# 配置\n\n请求体的大小可以在配置文件中修改。').language, 'zh')
  t.equal(page('# 설정\n\n서버를 시작하려면 설정 파일을 편집합니다.').language, 'ko')
  t.equal(page('# Text\n\nMostly English with 一 character.').language, 'en')
})

const links = (body: string, path = 'guide/a.md') => findPageLinks(path, body)

t.test('findPageLinks returns the words around each link with its fragment', async (t) => {
  t.same(
    links(
      '# A\n\n- [Hooks](hooks.md#onRequest-hook): run before handlers\n- [Routes](../routes.md)\n\nSee [b](./sub/b.mdx "title").',
    ),
    [
      { to: 'guide/hooks.md', text: 'Hooks: run before handlers onRequest on request hook' },
      { to: 'routes.md', text: 'Routes' },
      { to: 'guide/sub/b.mdx', text: 'See b.' },
    ],
  )
  t.same(
    links('from the root [x](/docs/x.md)').map(({ to }) => to),
    ['docs/x.md'],
  )
})

t.test('findPageLinks returns only the words of a link in a long paragraph', async (t) => {
  t.same(links(`${'word '.repeat(200)} [the hooks](hooks.md)`), [{ to: 'guide/hooks.md', text: 'the hooks' }])
})

t.test(
  'findPageLinks ignores links to other sites, pictures and the page itself, and links in code',
  async (t) => {
    const none = [
      '[self](a.md#x)',
      '[out](../../x.md)',
      '[site](https://example.com/x.md)',
      '[site](//example.com/x.md)',
      '![picture](x.png)',
      '```md\n[code](x.md)\n```',
      '[](x.md)',
    ]
    for (const body of none) t.same(links(body), [], body)
  },
)

t.test('findPageLinks reads tables, omits repeated links and handles many brackets', async (t) => {
  t.same(links('| page | about |\n| --- | --- |\n| [b](b.md) | bees |\n| [c](c.md) | cats |'), [
    { to: 'guide/b.md', text: 'b bees' },
    { to: 'guide/c.md', text: 'c cats' },
  ])
  t.equal(links('- [b](b.md)\n- [b](b.md)').length, 1)
  t.same(links('['.repeat(20_000)), [])
})

t.test('splitBlocks, extractWords and findPageLinks handle hostile text', async (t) => {
  const blanks = ' '.repeat(100_000)
  t.match(splitBlocks([`# a ${blanks} b ##${blanks}`]), [{ kind: 'heading', level: 1 }])
  t.match(splitBlocks(['# a ##', '## #', '#', '#a']), [
    { title: 'a' },
    { title: '#' },
    { title: '' },
    { kind: 'text' },
  ])
  for (const text of ['{/*', '\n\t', '[', '<', '- [a](#', '- ['])
    t.ok(extractWords(text.repeat(50_000)).length >= 0)
  t.same(findPageLinks('a.md', `[x](b.md#${'#'.repeat(100_000)}`), [])
})

t.test('readQuestion removes stop words, unless no other words remain', async (t) => {
  t.same(readQuestion('How do I add a hook?').words, ['add', 'hook'])
  t.same(readQuestion('to be or not to be').words, ['to', 'be', 'or', 'not'])
  t.same(readQuestion('?!').words, [])
})

t.test('readQuestion omits pairs that begin with a Japanese particle or ending', async (t) => {
  const { words } = readQuestion('値を切り替える設定')
  t.same(words, ['値を', '切り', '替え', '設定'])
  t.same(readQuestion('なぜですか').words, ['なぜ', 'ぜで', 'です', 'すか'], 'retains the only pairs')
  t.ok(isMostlyUnspaced(words))
  t.notOk(isMostlyUnspaced(['log', 'level', '設定']))
})

t.test('readQuestion finds identifiers and phrases', async (t) => {
  const asked = readQuestion(
    'set preSerialization or FST_ERR_X in Mcp-Session-Id via reply.send "keep alive timeout" e.g.',
  )
  t.same(asked.identifiers, ['preSerialization', 'FST_ERR_X', 'Mcp-Session-Id', 'reply.send'])
  t.same(asked.phrases, ['keep alive timeout'])
  t.ok(listWordTerms(asked).includes('serialization'), 'adds the parts of an identifier as words')
  t.ok(listIdentifierTerms(asked).includes('mcp session id'))
})

t.test('formatFtsExpression quotes terms', async (t) => {
  t.equal(formatFtsExpression(['a"b', 'NEAR(x)']), '"a""b" OR "NEAR(x)"')
})

t.test('fuse ranks a hit in several lists above the first hit of one list, then sorts by id', async (t) => {
  const hit = (doc_id: number) => ({ doc_id, item_id: doc_id * 10 })
  const fused = fuse({ stem: [hit(1), hit(2)], exact: [hit(3), hit(2)], doc: [{ doc_id: 2, item_id: null }] })
  t.same(
    fused.map(({ doc_id }) => doc_id),
    [2, 1, 3],
  )
  t.same(fused[0]?.ranks, { stem: 2, exact: 2, doc: 1 })
  t.equal(fused[0]?.score, 1 / 7 + 1 / 7 + 1 / 6)
})

t.test('fuse counts only the best chunk of a page', async (t) => {
  const pieces = Array.from({ length: 5 }, (_, i) => ({ doc_id: 1, item_id: i }))
  const fused = fuse({ stem: [...pieces, { doc_id: 2, item_id: 9 }] })
  t.same(
    fused.map(({ doc_id, ranks, items }) => [doc_id, ranks.stem, items.length]),
    [
      [1, 1, 5],
      [2, 2, 1],
    ],
  )
})

t.test('findNamedSources returns the packages that a query names, unless it names all', async (t) => {
  t.same([...findNamedSources(['body', 'fastify'], ['docs', 'pkg:fastify', 'pkg:@a/b'])], ['pkg:fastify'])
  t.same([...findNamedSources(['core'], ['docs', 'pkg:@scope/core'])], ['pkg:@scope/core'])
  t.same([...findNamedSources(['fastify', 'undici'], ['pkg:fastify', 'pkg:undici'])], [])
})

t.test(
  'weighPage prefers named packages, and prefers guides to decision records unless the query asks for records',
  async (t) => {
    const weigh = (source: string, file_path: string, words: readonly string[] = []) =>
      weighPage({ source, file_path }, new Set(['pkg:fastify']), words)
    const guide = weigh('docs', 'docs/settings.md')
    t.ok(weigh('pkg:fastify', 'docs/hooks.md') > guide)
    for (const path of ['docs/decisions/0005-requirements.md', 'adr/1.md', 'doc/ADRs/0001.md'])
      t.ok(weigh('docs', path) < guide, path)
    t.equal(weigh('docs', 'guide/decisions.md'), guide)
    t.equal(weigh('docs', 'docs/decisions/0005-requirements.md', ['decision', 'settings']), guide)
  },
)

t.test('rankByWeight multiplies scores and sorts equal scores by id', async (t) => {
  const fused = [1, 2, 3].map((doc_id) => ({ doc_id, score: 1 - doc_id / 10, ranks: {}, items: [] }))
  const ranked = rankByWeight(fused, (id) => (id === 1 ? 0.5 : id === 3 ? 8 / 7 : 1))
  t.same(
    ranked.map(({ doc_id }) => doc_id),
    [2, 3, 1],
  )
})

t.test('limitText omits chunks that do not fit, except the first', async (t) => {
  const doc = (...texts: string[]) => ({ chunks: texts.map((text) => ({ text })) })
  const { docs, isTruncated } = limitText([doc('aaaaaa', 'bb'), doc('cccc'), doc('d')], 9)
  t.same(docs, [doc('aaaaaa', 'bb'), doc('d')])
  t.ok(isTruncated)
  t.same(limitText([doc('aaaaaa')], 2).docs, [doc('aaaaaa')])
  t.notOk(limitText([doc('a')], 2).isTruncated)
})

t.test('extractWords removes markup and link targets', async (t) => {
  const text = extractWords('## A [link](https://x.y/z) <b>bold</b> <!-- note --> `code_x`\n- item')
  t.match(text, /link/)
  t.match(text, /code_x/)
  t.notMatch(text, /https|note|##|<b>/)
  t.notMatch(extractWords('text\n- [A heading](#a-heading)\n'), /heading/, 'removes a table of contents')
  t.match(extractWords('- [A page](page.md)'), /page/)
})

t.test('findNearestNames omits names that are not similar', async (t) => {
  t.same(findNearestNames('referense', ['Reference', 'Guides']), ['Reference'])
  t.same(findNearestNames('xyz', ['Reference', 'Guides']), [])
})

t.test('findNeedles finds a needle at any position', async (t) => {
  const line = Buffer.from('the quokka sentence must never leave this machine')
  const wanted = cutNeedles([line])
  t.ok(wanted.length >= 2)
  const bytes = Buffer.concat([Buffer.alloc(5000, 7), line, Buffer.alloc(100)])
  t.equal(findNeedles(bytes, wanted).size, wanted.length)
  t.equal(findNeedles(Buffer.alloc(5000, 7), wanted).size, 0)
  const broken = Buffer.concat([line.subarray(0, 30), Buffer.alloc(50), line.subarray(30)])
  t.ok(findNeedles(broken, wanted).size > 0, 'finds a needle across the end of a database page')
})

t.test('formatLlmsText lists a page below its section', async (t) => {
  const page = { doc_id: 7, title: 'Hooks', file_path: 'docs/hooks.md', section: 'Reference' }
  t.equal(
    formatLlmsText('Docs', 'All.', [page]),
    '# Docs\n\n> All.\n\n## Reference\n\n- [Hooks](help://doc/7): docs/hooks.md\n',
  )
})
