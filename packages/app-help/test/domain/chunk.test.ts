import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { blocks } from '../../src/domain/block.ts'
import { type Chunk, chunks, defaultSize } from '../../src/domain/chunk.ts'
import { sections } from '../../src/domain/section.ts'

const cut = (text: string, size = defaultSize): Chunk[] => chunks(text.split('\n'), 0, size)

/** What the lines and columns of a piece say. */
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
      const found = new Set(cut(lines.join('\n')).flatMap((one) => rangeOf(one)))
      for (const [at] of lines.entries())
        if (!found.has(at + 1)) throw new Error(`line ${at + 1} is in no piece`)
    }),
    { numRuns: process.env.CAUSEWAY_LONG ? 2000 : 200 },
  )
  t.pass('every line that says something is in a piece')
})

const rangeOf = ({ start_line, end_line }: Chunk): number[] =>
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
    sections(blocks(text.split('\n'))).map(({ path }) => path.join(' > ')),
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
  t.match(withFence?.text, /```js[\s\S]*line\(11\)[\s\S]*```/, 'a fence that fits is never divided')
})

verifies(
  'help:chunk:fence',
  'a fence that does not fit says within which language a piece begins',
  async (t) => {
    const code = [
      '# Big',
      '```ts',
      ...Array.from({ length: 100 }, (_, i) => `const value${i} = ${'1'.repeat(40)}`),
      '```',
    ].join('\n')
    const inside = cut(code).filter(({ text }) => text.startsWith('const'))
    t.ok(inside.length > 2)
    for (const { fence } of inside) t.equal(fence, 'ts')
  },
)

t.test('chunks: a heading path, an anchor and a level', async (t) => {
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

t.test('chunks: a short section goes with the next, and never outwards', async (t) => {
  const text = `# A\n\nshort\n\n## B\n\n${'b '.repeat(200)}\n\n### C\n\ntiny\n\n# D\n\n${'d '.repeat(200)}`
  t.same(
    cut(text).map(({ heading }) => heading),
    ['A > B', 'A > B > C', 'D'],
  )
})

t.test('chunks: a piece repeats little of the one before it', async (t) => {
  const paragraphs = Array.from({ length: 40 }, (_, i) => `paragraph ${i} ${'w '.repeat(50)}`)
  const pieces = cut(`# A\n\n${paragraphs.join('\n\n')}`)
  for (const [i, piece] of pieces.slice(1).entries()) {
    const shared = (pieces[i]?.end_line ?? 0) - piece.start_line + 1
    t.ok(shared >= 0 && shared <= 4, `${shared} lines`)
  }
})

t.test('blocks: setext headings, comments and tables', async (t) => {
  const text = ['Title', '=====', '', '<!--', '# hidden', '-->', 'Sub', '---', '| a |', '| - |', 'text'].join(
    '\n',
  )
  t.same(
    blocks(text.split('\n')).map(({ kind, title }) => title ?? kind),
    ['Title', 'blank', 'text', 'Sub', 'table', 'text'],
  )
})

t.test('chunks: nothing comes of an empty page', async (t) => {
  t.same(cut(''), [])
  t.same(cut('\n\n  \n'), [])
})
