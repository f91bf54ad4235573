import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import {
  decodeLsa,
  encodeLsa,
  nearest,
  openLsa,
  trainLsa,
  vectorBytes,
  vectorOf,
  vectorTable,
} from '../src/index.ts'

/** Two topics; the words of a question need not be those of the text that answers it. */
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
  const table = vectorTable(2, rows)
  const asked = await embedder.embedQuery('captain')
  t.not(asked, undefined)
  const found = nearest(table, asked ?? new Float32Array(2), 4).map(({ id }) => id)
  t.same(found.toSorted(), [0, 1, 2, 3], 'also the texts about ships that say nothing of a captain')
})

verifies('help:embed:lsa', 'two trainings on the same texts are one space', async (t) => {
  const [a, b] = await Promise.all([trainLsa(texts), trainLsa(texts)])
  t.same(encodeLsa(a), encodeLsa(b))
  t.equal(a.space.fingerprint, b.space.fingerprint)
  const other = await trainLsa(texts.slice(1))
  t.not(other.space.fingerprint, a.space.fingerprint, 'another corpus is another space')
})

t.test('decodeLsa: a model survives its bytes', async (t) => {
  const model = await trainLsa(texts, { dimensions: 3 })
  const again = decodeLsa(encodeLsa(model))
  t.same(again.space, model.space)
  const [a, b] = await Promise.all(
    [model, again].map((one) => openLsa(one).embedQuery('captain of the ship')),
  )
  t.same(a, b)
  t.throws(() => decodeLsa(new Uint8Array([9, 0, 0, 0, 1])), { code: 'EMBEDDINGS_INVALID' })
})

t.test('openLsa: a text without a known word has no vector', async (t) => {
  const embedder = openLsa(await trainLsa(texts))
  t.equal(await embedder.embedQuery('xylophone'), undefined)
  t.equal(await embedder.embedQuery(''), undefined)
})

t.test('trainLsa: no texts and one text are no errors', async (t) => {
  t.equal(await openLsa(await trainLsa([])).embedQuery('sea'), undefined)
  t.not(await openLsa(await trainLsa(['the only text about ships'])).embedQuery('ship'), undefined)
})

t.test('trainLsa: a cancelled training stops', async (t) => {
  await t.rejects(trainLsa(texts, { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
})

t.test('vectorOf: bytes that begin anywhere in memory', async (t) => {
  const vector = Float32Array.from([0.5, -2, 1 / 3])
  const bytes = vectorBytes(vector)
  const shifted = new Uint8Array(bytes.length + 1)
  shifted.set(bytes, 1)
  t.same(vectorOf(shifted.subarray(1)), vector)
})

t.test('nearest: rows that are not accepted are left out before the cut', async (t) => {
  const table = vectorTable(
    1,
    [1, 2, 3, 4].map((id) => [id, Float32Array.from([1])] as const),
  )
  t.same(
    nearest(table, Float32Array.from([1]), 2, (id) => id > 2).map(({ id }) => id),
    [3, 4],
  )
})
