import ndarray from 'ndarray'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { createSparse, orthonormalize } from '../src/domain/matrix.ts'
import { computeSymmetricEigen } from '../src/domain/symmetric-eigen.ts'
import { listTerms, stem } from '../src/domain/terms.ts'
import { computeTruncatedSvd, createRandomBits, type SvdOptions } from '../src/domain/truncated-svd.ts'
import { addParts, separateWords, splitIdentifier, splitWords } from '../src/domain/words.ts'
import {
  createVectorTable,
  decodeLsa,
  decodeVector,
  encodeLsa,
  encodeVector,
  findNearest,
  openLsa,
  trainLsa,
} from '../src/index.ts'

/** Texts about two topics. A question can use different words than the text that answers it. */
const texts = [
  'the ship sails over the sea with a captain and crew',
  'a captain commands the crew of the vessel',
  'the vessel crossed the sea in a storm',
  'sailors of the ship met a storm at sea',
  'the parser reads tokens of the grammar',
  'a grammar describes what the parser accepts',
  'tokens come from the lexer before the parser',
  'the lexer splits source text into tokens',
]

verifies('help:embed:lsa', async (t) => {
  const embedder = openLsa(await trainLsa(texts, { dimensions: 2 }))
  const vectors = await embedder.embedDocuments(texts)
  const rows = vectors.flatMap((vector, id) => (vector === undefined ? [] : [[id, vector] as const]))
  t.equal(rows.length, texts.length)
  const table = createVectorTable(2, rows)
  const asked = await embedder.embedQuery('captain')
  t.not(asked, undefined)
  const found = findNearest(table, asked ?? new Float32Array(2), 4).map(({ id }) => id)
  t.same(found.toSorted(), [0, 1, 2, 3], 'also finds texts about ships that do not contain the word captain')
})

verifies('help:embed:lsa', 'two trainings on the same texts create the same space', async (t) => {
  const [a, b] = await Promise.all([trainLsa(texts), trainLsa(texts)])
  t.same(encodeLsa(a), encodeLsa(b))
  t.equal(a.space.fingerprint, b.space.fingerprint)
  const other = await trainLsa(texts.slice(1))
  t.not(other.space.fingerprint, a.space.fingerprint, 'creates another space for other texts')
})

t.test('decodeLsa restores an encoded model', async (t) => {
  const model = await trainLsa(texts, { dimensions: 3 })
  const again = decodeLsa(encodeLsa(model))
  t.same(again.space, model.space)
  const [a, b] = await Promise.all(
    [model, again].map((one) => openLsa(one).embedQuery('captain of the ship')),
  )
  t.same(a, b)
  t.throws(() => decodeLsa(new Uint8Array([9, 0, 0, 0, 1])), { code: 'EMBEDDINGS_INVALID' })
})

t.test('openLsa returns undefined for a text without a known word', async (t) => {
  const embedder = openLsa(await trainLsa(texts))
  t.equal(await embedder.embedQuery('xylophone'), undefined)
  t.equal(await embedder.embedQuery(''), undefined)
})

t.test('trainLsa accepts zero texts and one text', async (t) => {
  t.equal(await openLsa(await trainLsa([])).embedQuery('sea'), undefined)
  t.not(await openLsa(await trainLsa(['the only text about ships'])).embedQuery('ship'), undefined)
})

t.test('trainLsa rejects with CANCELLED if its signal is aborted', async (t) => {
  await t.rejects(trainLsa(texts, { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
})

t.test('decodeVector reads bytes at any offset', async (t) => {
  const vector = Float32Array.from([0.5, -2, 1 / 3])
  const bytes = encodeVector(vector)
  const shifted = new Uint8Array(bytes.length + 1)
  shifted.set(bytes, 1)
  t.same(decodeVector(shifted.subarray(1)), vector)
})

t.test('findNearest filters rows before it applies the limit', async (t) => {
  const table = createVectorTable(
    1,
    [1, 2, 3, 4].map((id) => [id, Float32Array.from([1])] as const),
  )
  t.same(
    findNearest(table, Float32Array.from([1]), 2, (id) => id > 2).map(({ id }) => id),
    [3, 4],
  )
})

/** Words from Porter's paper, An algorithm for suffix stripping, 1980, and their stems after all steps. */
const examples = {
  caresses: 'caress',
  ponies: 'poni',
  ties: 'ti',
  cats: 'cat',
  feed: 'feed',
  agreed: 'agre',
  plastered: 'plaster',
  bled: 'bled',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  troubled: 'troubl',
  sized: 'size',
  hopping: 'hop',
  falling: 'fall',
  hissing: 'hiss',
  fizzed: 'fizz',
  failing: 'fail',
  filing: 'file',
  happy: 'happi',
  sky: 'sky',
  relational: 'relat',
  conditional: 'condit',
  valenci: 'valenc',
  digitizer: 'digit',
  radicalli: 'radic',
  vietnamization: 'vietnam',
  operator: 'oper',
  hopefulness: 'hope',
  sensibiliti: 'sensibl',
  triplicate: 'triplic',
  formative: 'form',
  electrical: 'electr',
  goodness: 'good',
  revival: 'reviv',
  allowance: 'allow',
  adjustable: 'adjust',
  replacement: 'replac',
  adoption: 'adopt',
  probate: 'probat',
  rate: 'rate',
  cease: 'ceas',
  controll: 'control',
  roll: 'roll',
  oscillators: 'oscil',
  generalizations: 'gener',
}

t.test('stem returns the stems of the published examples', async (t) => {
  for (const [word, expected] of Object.entries(examples)) t.equal(stem(word), expected, word)
})

t.test('stem does not change words that are not English', async (t) => {
  for (const word of ['be', 'http2', 'fst_err', 'überall', '検索']) t.equal(stem(word), word)
})

t.test('splitWords splits unspaced scripts into pairs and other text into words', async (t) => {
  t.same(splitWords('設定 of the ログレベル'), ['設定', 'of', 'the', 'ログ', 'グレ', 'レベ', 'ベル'])
  t.same(splitWords('请求体大小'), ['请求', '求体', '体大', '大小'])
  t.same(splitWords('서버를 시작'), ['서버', '버를', '시작'])
  t.same(splitWords('火'), ['火'])
})

t.test('splitWords folds full-width letters and ligatures', async (t) => {
  t.same(splitWords('ＡＰＩ ﬁle'), ['api', 'file'])
})

t.test('separateWords retains the text around runs of an unspaced script', async (t) => {
  t.equal(separateWords('a 検索する b').replaceAll(/\s+/g, ' '), 'a 検索 索す する b')
})

t.test(
  'splitIdentifier returns the words of an identifier, and an empty list for a plain word',
  async (t) => {
    t.same(splitIdentifier('preSerialization'), ['pre', 'serialization'])
    t.same(splitIdentifier('FST_ERR_CTP_BODY_TOO_LARGE'), ['fst', 'err', 'ctp', 'body', 'too', 'large'])
    t.same(splitIdentifier('HTTPServer'), ['http', 'server'])
    t.same(splitIdentifier('plugin'), [])
  },
)

t.test('listTerms returns stems without stop words, and identifiers whole and in parts', async (t) => {
  t.same(listTerms('How do I use the onRequest hooks?'), ['onrequest', 'request', 'hook'])
  t.same(listTerms('the of and'), [])
})

t.test('addParts appends the parts to camel-case names and does not change other text', async (t) => {
  t.equal(addParts('the `bodyLimit` of HTTPServer'), 'the `bodyLimit body limit` of HTTPServer http server')
  t.equal(addParts('Plain words, FST_ERR_X and 検索'), 'Plain words, FST_ERR_X and 検索')
  const data = 'aB'.repeat(5000)
  t.equal(addParts(data), data)
})

const run = (rows: readonly ReadonlyMap<number, number>[], columns: number, options: SvdOptions) => {
  const passes = computeTruncatedSvd(createSparse(rows, columns), options)
  for (;;) {
    const pass = passes.next()
    if (pass.done) return pass.value
  }
}

const near = (t: Test, found: number | undefined, wanted: number, tolerance: number, what: string) =>
  t.ok(Math.abs((found ?? Number.NaN) - wanted) <= tolerance, `${what}: ${found} is close to ${wanted}`)

t.test('computeTruncatedSvd returns the entries of a diagonal matrix as singular values', async (t) => {
  const entries = [9, 7, 5, 3, 1, 0.5]
  const rows = entries.map((value, i) => new Map([[i, value]]))
  const { values, rightVectors } = run(rows, entries.length, { rank: 3, seed: 7 })
  for (const k of [0, 1, 2]) {
    near(t, values[k], entries[k] ?? 0, 1e-6, `value ${k}`)
    near(t, rightVectors.data[k * rightVectors.columns + k], 1, 1e-6, `vector ${k}`)
  }
})

t.test('computeTruncatedSvd returns the row direction of a matrix of rank one', async (t) => {
  const rows = [1, 2, 3, 4].map((scale) => new Map([3, 4].map((value, j) => [j, scale * value])))
  const { values, rightVectors } = run(rows, 2, { rank: 1, seed: 1 })
  near(t, values[0], Math.sqrt(30) * 5, 1e-9, 'the value is the product of both lengths')
  near(t, rightVectors.data[0], 0.6, 1e-9, 'first')
  near(t, rightVectors.data[1], 0.8, 1e-9, 'second')
})

t.test('computeTruncatedSvd returns the same bytes for the same seed', async (t) => {
  const bits = createRandomBits(3)
  const rows = Array.from(
    { length: 60 },
    () => new Map(Array.from({ length: 8 }, () => [bits() % 40, (bits() % 100) / 10])),
  )
  const twice = [1, 2].map(() => run(rows, 40, { rank: 10, seed: 5 }).rightVectors.data)
  t.same(twice[0], twice[1])
})

t.test(
  'computeSymmetricEigen returns eigenvectors and eigenvalues that reconstruct the matrix',
  async (t) => {
    const entries = [4, 1, 2, 1, 3, 0, 2, 0, 5]
    const { values, vectors } = computeSymmetricEigen(ndarray(Float64Array.from(entries), [3, 3]))
    for (const i of [0, 1, 2]) {
      for (const j of [0, 1, 2]) {
        const sum = [0, 1, 2].reduce(
          (total, k) => total + vectors.get(i, k) * (values[k] ?? 0) * vectors.get(j, k),
          0,
        )
        near(t, sum, entries[i * 3 + j] ?? 0, 1e-12, `entry ${i}, ${j}`)
      }
    }
    t.ok(
      (values[0] ?? 0) >= (values[1] ?? 0) && (values[1] ?? 0) >= (values[2] ?? 0),
      'sorts eigenvalues in descending order',
    )
  },
)

t.test('orthonormalize sets a dependent column to zero', async (t) => {
  const { data } = orthonormalize({ rows: 2, columns: 2, data: Float64Array.from([3, 6, 4, 8]) })
  near(t, data[0], 0.6, 1e-12, 'the first column has length 1')
  t.same([data[1], data[3]], [0, 0])
})
