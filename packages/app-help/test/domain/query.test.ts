import t from 'tap'
import { withinBudget } from '../../src/domain/budget.ts'
import { fuse } from '../../src/domain/fuse.ts'
import { indexText } from '../../src/domain/index-text.ts'
import { llmsText } from '../../src/domain/llms-text.ts'
import { namedSources, preferSources } from '../../src/domain/named-source.ts'
import { nearestNames } from '../../src/domain/nearest-name.ts'
import { heldNeedles, needles } from '../../src/domain/needles.ts'
import { ftsExpression, identifierTerms, readQuestion, wordTerms } from '../../src/domain/query.ts'

t.test('readQuestion: words without stop words, unless nothing else is left', async (t) => {
  t.same(readQuestion('How do I add a hook?').words, ['add', 'hook'])
  t.same(readQuestion('to be or not to be').words, ['to', 'be', 'or', 'not'])
  t.same(readQuestion('?!').words, [])
})

t.test('readQuestion: names of code and phrases', async (t) => {
  const asked = readQuestion(
    'set preSerialization or FST_ERR_X in Mcp-Session-Id via reply.send "keep alive timeout" e.g.',
  )
  t.same(asked.identifiers, ['preSerialization', 'FST_ERR_X', 'Mcp-Session-Id', 'reply.send'])
  t.same(asked.phrases, ['keep alive timeout'])
  t.ok(wordTerms(asked).includes('serialization'), 'parts of a name are words')
  t.ok(identifierTerms(asked).includes('mcp session id'))
})

t.test('ftsExpression: nothing in a term is syntax', async (t) => {
  t.equal(ftsExpression(['a"b', 'NEAR(x)']), '"a""b" OR "NEAR(x)"')
})

t.test('fuse: agreement of lists beats one first place, equal ones go by id', async (t) => {
  const hit = (doc_id: number) => ({ doc_id, item_id: doc_id * 10 })
  const fused = fuse({ stem: [hit(1), hit(2)], exact: [hit(3), hit(2)], doc: [{ doc_id: 2, item_id: null }] })
  t.same(
    fused.map(({ doc_id }) => doc_id),
    [2, 1, 3],
  )
  t.same(fused[0]?.ranks, { stem: 2, exact: 2, doc: 1 })
  t.equal(fused[0]?.score, 1 / 7 + 1 / 7 + 1 / 6)
})

t.test('fuse: of a page with many pieces only the best place counts for the page', async (t) => {
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

t.test(
  'preferSources: pages of a package that the question names go first, unless it names all',
  async (t) => {
    t.same(
      [...namedSources(['body', 'fastify'], ['docs', 'pkg:fastify', 'pkg:@scope/core'])],
      ['pkg:fastify'],
    )
    t.same([...namedSources(['core'], ['docs', 'pkg:@scope/core'])], ['pkg:@scope/core'])
    t.same([...namedSources(['fastify', 'undici'], ['pkg:fastify', 'pkg:undici'])], [])
    const fused = [1, 2].map((doc_id) => ({ doc_id, score: 1 / doc_id, ranks: {}, items: [] }))
    const of = (id: number) => (id === 2 ? 'pkg:fastify' : 'docs')
    t.same(preferSources(fused, new Set(['pkg:fastify']), of)[0]?.score, 1)
    const close = [1, 2].map((doc_id) => ({ doc_id, score: 1 - doc_id / 10, ranks: {}, items: [] }))
    t.same(
      preferSources(close, new Set(['pkg:fastify']), of).map(({ doc_id }) => doc_id),
      [2, 1],
    )
  },
)

t.test('withinBudget: pieces that do not fit are left out, the first one never', async (t) => {
  const doc = (...texts: string[]) => ({ chunks: texts.map((text) => ({ text })) })
  const { docs, isCut } = withinBudget([doc('aaaaaa', 'bb'), doc('cccc'), doc('d')], 9)
  t.same(docs, [doc('aaaaaa', 'bb'), doc('d')])
  t.ok(isCut)
  t.same(withinBudget([doc('aaaaaa')], 2).docs, [doc('aaaaaa')])
  t.notOk(withinBudget([doc('a')], 2).isCut)
})

t.test('indexText: text stays, marks and addresses go', async (t) => {
  const text = indexText('## A [link](https://x.y/z) <b>bold</b> <!-- note --> `code_x`\n- item')
  t.match(text, /link/)
  t.match(text, /code_x/)
  t.notMatch(text, /https|note|##|<b>/)
  t.notMatch(
    indexText('text\n- [A heading](#a-heading)\n'),
    /heading/,
    'a table of contents repeats what stands below',
  )
  t.match(indexText('- [A page](page.md)'), /page/)
})

t.test('nearestNames: the likest first, none for what is like nothing', async (t) => {
  t.same(nearestNames('referense', ['Reference', 'Guides']), ['Reference'])
  t.same(nearestNames('xyz', ['Reference', 'Guides']), [])
})

t.test('heldNeedles: finds a part wherever it stands, and nothing that is not there', async (t) => {
  const line = Buffer.from('the quokka sentence must never leave this machine')
  const wanted = needles([line])
  t.ok(wanted.length >= 2)
  const bytes = Buffer.concat([Buffer.alloc(5000, 7), line, Buffer.alloc(100)])
  t.equal(heldNeedles(bytes, wanted).size, wanted.length)
  t.equal(heldNeedles(Buffer.alloc(5000, 7), wanted).size, 0)
  const broken = Buffer.concat([line.subarray(0, 30), Buffer.alloc(50), line.subarray(30)])
  t.ok(heldNeedles(broken, wanted).size > 0, 'also where a page of a database ends within the line')
})

t.test('llmsText: pages by section', async (t) => {
  const page = { doc_id: 7, title: 'Hooks', file_path: 'docs/hooks.md', section: 'Reference' }
  t.equal(
    llmsText('Docs', 'All.', [page]),
    '# Docs\n\n> All.\n\n## Reference\n\n- [Hooks](help://doc/7): docs/hooks.md\n',
  )
})
