import t from 'tap'
import { chooseOrigin, encodePoses } from '../../src/domain/drawing/encode-poses.ts'

t.test('encodePoses writes CWP1 with positions relative to the origin', async (t) => {
  const [x, y, z] = [400_000.001, -3, 12.5]
  const origin = chooseOrigin([Float64Array.from([x, y, z, 1, 0, 0, 0])], 1e6)
  t.same(origin, [400_000, -3, 13])
  const values = Float32Array.from([x - 400_000, y + 3, z - 13, 1, 0, 0, 0])
  const one = {
    bodies: [7],
    frames: Float64Array.of(3),
    times: Float64Array.of(0.5),
    states: Uint8Array.of(1),
  }
  const bytes = encodePoses({ ...one, origin, values })
  const view = new DataView(bytes.buffer)
  t.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'CWP1')
  t.same(
    [4, 8, 12].map((at) => view.getUint32(at, true)),
    [1, 1, 1],
    'version, frames, bodies',
  )
  t.equal(view.getFloat64(16, true), 400_000)
  t.same([view.getFloat64(56, true), view.getFloat64(64, true), view.getUint32(72, true)], [3, 0.5, 7])
  t.equal(bytes[76], 1)
  t.ok(Math.abs(view.getFloat32(80, true) + 400_000 - x) < 1e-6, 'millimetres remain')
  t.equal(bytes.length, 80 + 7 * 4)
})

t.test('chooseOrigin ignores positions that are not finite or too far away', async (t) => {
  t.same(chooseOrigin([Float64Array.from([3e168, 0, 0, 1, 0, 0, 0])], 1e6), [0, 0, 0])
  t.same(
    chooseOrigin([Float64Array.from([Number.NaN, 0, 0, 1, 0, 0, 0, 2, 2, 2, 1, 0, 0, 0])], 1e6),
    [0, 0, 0],
  )
})
