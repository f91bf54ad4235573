/** The routes that viewers of recordings read. */
import t from 'tap'
import { parsePoses } from '../../packages/console/src/data/poses.ts'
import { verifies } from '../verifies.ts'
import { startServer } from './server-process.ts'

const { url } = await startServer(t, { dir: t.testdir() })

const get = (path: string): Promise<Response> => fetch(`${url}/api/apps/replay/recordings/${path}`)

const isNear = (value: number | undefined, expected: number): boolean =>
  Math.abs((value ?? Number.NaN) - expected) < 1e-6

verifies('replay:viewer:poses', async (t) => {
  const response = await get('slide_at_45/poses?from=44&to=46')
  t.equal(response.headers.get('content-type'), 'application/vnd.causeway.poses')
  const poses = parsePoses(await response.arrayBuffer())
  t.same([...poses.frames], [44, 45, 46])
  t.same(poses.bodies, [1])
  t.same([...poses.states], [1, 1, 1])
  // In frame 45 the plate lies at z = 0.0998922757525049 and is not rotated.
  t.ok(isNear(poses.values[7 + 2], 0.0998922757525049))
  t.ok(isNear(poses.values[7 + 3], 1), 'w is first')
  const broken = parsePoses(await (await get('nan/poses?from=1&to=80')).arrayBuffer())
  t.ok(
    broken.states.some((state) => (state & 2) !== 0),
    'poses that are not finite are marked',
  )
  t.equal((await get('none/poses?from=1&to=2')).status, 404)
  t.match(await (await get('nan/poses?from=x&to=2')).json(), { code: 'INVALID_ARGUMENTS' })
})

verifies('replay:viewer:scene', async (t) => {
  const scene = (await (await get('slide_at_45/scene?frame=45')).json()) as {
    contacts: { normal_n: number[]; friction_n: number[] }[]
  }
  // A plate of 10 kg rests on the floor: m g = 98.1 N. The recorded friction is four times 2.5 N·s in 4 ms.
  const [contact] = scene.contacts
  t.ok(Math.abs((contact?.normal_n[2] ?? 0) - 98.1) < 0.01, 'the floor pushes upwards')
  t.ok(Math.abs(Math.hypot(...(contact?.friction_n ?? [])) - 2500) < 1)
  t.match(scene, {
    frame_id: 45,
    // Each point has 2.5 N·s against a limit of 0.5 * 0.0981 N·s.
    contacts: [{ body_a_id: 1, on: 1, points: { length: 4 }, utilization: 50.96820422896142 }],
    names: { 2147483650: 'floor' },
    shapes: { 1: { box: { length: 3 } } },
    grounds: [{ normal: [0, 0, 1] }],
  })
  t.match(await (await get('slide_at_45/scene?frame=999')).json(), { code: 'FRAME_NOT_FOUND' })
})
