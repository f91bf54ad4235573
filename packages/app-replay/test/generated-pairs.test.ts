import t from 'tap'
import { generatedRecordings } from '../../../fixtures/generate/generated/generated.ts'
import { verifies } from '../../../test/verifies.ts'
import { openReplay } from './replay-kit.ts'

// A fresh checkout makes the recordings first.
t.setTimeout(300_000)

const { folder, manifest } = await generatedRecordings()
const pairs = manifest.recordings.filter(
  ({ diverges_at, name }) => diverges_at !== undefined && name.endsWith('_a'),
)

t.ok(pairs.length >= 3, 'there are pairs of runs that part')
for (const { name, pair = '', diverges_at } of pairs)
  verifies(
    'replay:divergence',
    `find_first_divergence: ${name} and ${pair} part where one was changed`,
    async (t) => {
      const { client } = await openReplay(t, [name, pair], { source: folder })
      const one = client()
      const exact = await one.call('find_first_divergence', { a: name, b: pair, exact: true })
      t.equal(exact.first_frame, diverges_at, 'bit by bit')
      // One pair differs by the last bit of a number: no tolerance sees that at once.
      const tolerance = name.includes('least') ? 0 : 1e-6
      const loose = await one.call('find_first_divergence', { a: name, b: pair, tolerance })
      t.equal(loose.first_frame, diverges_at, 'by tolerance')
    },
  )
