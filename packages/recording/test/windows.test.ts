import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type FrameWindow, stateAt } from '../src/index.ts'
import { prepareCopy } from '../src/prepare.ts'
import { openReader } from '../src/reader.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/recordings')
const quiet = { signal: new AbortController().signal, progress() {} }

/** A private copy of a fixture, open for reading. */
function readerOf(t: Test, name: string) {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  const reader = openReader(file)
  t.teardown(() => reader.close())
  return reader
}

async function all(windows: AsyncGenerator<FrameWindow>): Promise<FrameWindow[]> {
  const found: FrameWindow[] = []
  for await (const window of windows) found.push(window)
  return found
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'era_unified'])
  t.test(`windows: ${name} holds what its frames hold, number by number`, async (t) => {
    const reader = readerOf(t, name)
    const windows = reader.windows(reader.summary())
    for (const window of await all(windows.over({ start: null, end: null }, quiet)))
      for (let row = window.from; row < window.to; row++) {
        const frame = reader.frame(window.frames[row] ?? 0)
        if (window.times[row] !== frame.simulation_time) t.fail(`time of frame ${frame.frame_id}`)
        const states = frame.states.map(({ body_id, position, velocity, orientation, angular_velocity }) => {
          const { w, x, y, z } = orientation
          const spin = angular_velocity ?? { x: Number.NaN, y: Number.NaN, z: Number.NaN }
          const numbers = [position, velocity].flatMap((v) => [v.x, v.y, v.z])
          return {
            body_id,
            numbers: [...numbers, w, x, y, z, spin.x, spin.y, spin.z].map((n) => n ?? Number.NaN),
          }
        })
        for (const { body_id, numbers } of states) {
          const column = window.bodies.indexOf(body_id)
          const at = (row * window.bodies.length + column) * stateAt.width
          t.same([...window.states.data.slice(at, at + stateAt.width)], numbers)
          t.equal(window.present[row * window.bodies.length + column], 1)
        }
        const rows = (flat: FrameWindow['friction']) => (flat.offset[row + 1] ?? 0) - (flat.offset[row] ?? 0)
        t.equal(rows(window.friction), frame.friction_constraints.length)
        t.equal(rows(window.constraints), frame.contact_constraints.length)
      }
  })

t.test(
  'windows: a range begins with the frame before it as context, and nothing beyond its end',
  async (t) => {
    const reader = readerOf(t, 'drop')
    const [window, ...more] = await all(reader.windows(reader.summary()).over({ start: 20, end: 30 }, quiet))
    t.same(more, [])
    t.equal(window?.frames[window.from], 20)
    t.equal(window?.frames[window.from - 1], 19)
    t.equal(window?.frames[window.to - 1], 30)
  },
)

t.test('windows: an abort ends them, and what was read is kept for the next look', async (t) => {
  const reader = readerOf(t, 'drop')
  const windows = reader.windows(reader.summary())
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  await t.rejects(all(windows.over({ start: null, end: null }, { ...quiet, signal: controller.signal })), {
    message: 'enough',
  })
  t.equal(windows.bytes, 0)
  const reports: string[] = []
  const call = {
    ...quiet,
    progress: (_done: number, _total: number, message: string) => reports.push(message),
  }
  await all(windows.over({ start: null, end: null }, call))
  t.ok(windows.bytes > 0)
  t.ok(reports.length > 0)
  await all(windows.over({ start: null, end: null }, { ...quiet, progress: () => t.fail('read twice') }))
})
