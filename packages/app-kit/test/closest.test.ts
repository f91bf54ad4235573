import t from 'tap'
import { closest } from '../src/closest.ts'

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
