import t from 'tap'
import { frameRange } from '../../src/domain/frame-range.ts'

const frames = { first_frame: 1, last_frame: 100, total_frames: 100, contiguous: true }

t.test('range: open bounds are the first and the last frame, others are cut to them', async (t) => {
  t.same(frameRange({}, frames), { start: 1, end: 100 })
  t.same(frameRange({ start_frame: null, end_frame: null }, frames), { start: 1, end: 100 })
  t.same(frameRange({ start_frame: 0, end_frame: 1000 }, frames), { start: 1, end: 100 })
  t.same(frameRange({ start_frame: 7, end_frame: 7 }, frames), { start: 7, end: 7 })
})

t.test('range: one that lies outside or is reversed is an error', async (t) => {
  t.throws(() => frameRange({ start_frame: 101 }, frames), {
    code: 'FRAME_NOT_FOUND',
    data: { first_frame: 1, last_frame: 100 },
  })
  t.throws(() => frameRange({ start_frame: 9, end_frame: 3 }, frames), { code: 'INVALID_ARGUMENTS' })
})

t.test('range: a recording of 0 frames has the open range alone', async (t) => {
  t.same(frameRange({}, null), { start: null, end: null })
  t.throws(() => frameRange({ start_frame: 1 }, null), { code: 'FRAME_NOT_FOUND' })
})
