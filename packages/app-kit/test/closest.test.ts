import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { closest, editDistance } from '../src/closest.ts'

const names = ['frame_id', 'body_id', 'threshold', 'start_frame']

t.test('closest: finds what was meant', async (t) => {
  for (const [word, meant] of [
    ['frameid', 'frame_id'],
    ['frameId', 'frame_id'],
    ['farme_id', 'frame_id'],
    ['threshhold', 'threshold'],
    ['startFrame', 'start_frame'],
  ] as const)
    t.equal(closest(word, names), meant, word)
})

t.test('closest: suggests nothing where nothing is near', async (t) => {
  for (const word of ['q', 'recording', 'velocity', '']) t.equal(closest(word, names), undefined, word)
  t.equal(closest('frame', []), undefined)
})

verifies(
  'limits:arguments',
  'closest and editDistance do not compare texts that are longer than a name',
  async (t) => {
    const word = 'frame_id'.repeat(100_000)
    t.equal(closest(word, names), undefined)
    t.equal(closest('frame_id', [word]), undefined)
    t.equal(editDistance(word, word), Number.POSITIVE_INFINITY)
    t.equal(editDistance('frame_id', 'farme_id'), 1)
  },
)
