import t from 'tap'
import { terms } from '../../src/domain/terms.ts'
import { identifierParts, spaced, withParts, words } from '../../src/domain/words.ts'

t.test('words: unspaced scripts become pairs, the rest words', async (t) => {
  t.same(words('設定 of the ログレベル'), ['設定', 'of', 'the', 'ログ', 'グレ', 'レベ', 'ベル'])
  t.same(words('请求体大小'), ['请求', '求体', '体大', '大小'])
  t.same(words('서버를 시작'), ['서버', '버를', '시작'])
  t.same(words('火'), ['火'])
})

t.test('words: full-width letters and ligatures are folded', async (t) => {
  t.same(words('ＡＰＩ ﬁle'), ['api', 'file'])
})

t.test('spaced: a text keeps what lies around its unspaced runs', async (t) => {
  t.equal(spaced('a 検索する b').replaceAll(/\s+/g, ' '), 'a 検索 索す する b')
})

t.test('identifierParts: words in an identifier, none of a plain word', async (t) => {
  t.same(identifierParts('preSerialization'), ['pre', 'serialization'])
  t.same(identifierParts('FST_ERR_CTP_BODY_TOO_LARGE'), ['fst', 'err', 'ctp', 'body', 'too', 'large'])
  t.same(identifierParts('HTTPServer'), ['http', 'server'])
  t.same(identifierParts('plugin'), [])
})

t.test('terms: stems without stop words, identifiers whole and in parts', async (t) => {
  t.same(terms('How do I use the onRequest hooks?'), ['onrequest', 'request', 'hook'])
  t.same(terms('the of and'), [])
})

t.test('withParts: names in camel case are followed by their parts, and everything else stays', async (t) => {
  t.equal(withParts('the `bodyLimit` of HTTPServer'), 'the `bodyLimit body limit` of HTTPServer http server')
  t.equal(withParts('Plain words, FST_ERR_X and 検索'), 'Plain words, FST_ERR_X and 検索')
  const data = 'aB'.repeat(5000)
  t.equal(withParts(data), data)
})
