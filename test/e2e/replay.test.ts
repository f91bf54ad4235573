import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Channel } from '../requirement.ts'
import { inCI } from '../tier.ts'
import { verifies } from '../verifies.ts'
import { openReplayClient, type ReplayClient } from './replay-client.ts'
import { recordings, startServer } from './server-process.ts'

t.setTimeout(300_000)

const outside = t.testdir({ outside: { 'secret.db': 'kept' }, data: {}, root: {} })
symlinkSync(join(outside, 'outside', 'secret.db'), join(outside, 'root', 'link.db'))
const { url } = await startServer(t, {
  dir: join(outside, 'data'),
  cwd: join(outside, 'root'),
})

/** A client for each channel, for calls that do not depend on earlier calls. */
const clients: Readonly<Record<Channel, ReplayClient>> = {
  direct: await openReplayClient(t, 'direct', url),
  http: await openReplayClient(t, 'http', url),
  bridge: await openReplayClient(t, 'bridge', url),
}

/** The slab is body 1. The floor is environment body 2, whose id has bit 31 set. */
const [slab, floor] = [1, 2 + 2 ** 31]

verifies('replay:story', async (t, channel) => {
  const client = await openReplayClient(t, channel, url)
  const loaded = await client.call('load_recording', { path: 'slide_at_45' })
  t.match(loaded, { loaded: true, recording: 'slide_at_45', total_frames: 120 })

  const { anomalies, count, counts } = await client.call('find_energy_anomalies', { threshold: 1 })
  t.match({ count, counts }, { count: 1, counts: { injection: 1, baseline: 1 } })
  const fault = anomalies.find(({ kind }: { kind: string }) => kind === 'injection')
  t.equal(fault.frame_id, 45)

  const frame = await client.call('get_frame', { frame_id: fault.frame_id })
  t.match(frame.friction_constraints, [{ body_a_id: slab, body_b_id: floor }])

  const cone = await client.call('check_friction_cone', { frame_id: fault.frame_id })
  t.match(cone, { recording: 'slide_at_45', frame_id: 45, violation_count: 4 }, 'every corner of the slab')
  for (const pair of cone.exceeding) t.match(pair, { body_a_id: slab, body_b_id: floor })
  const before = await client.call('check_friction_cone', { frame_id: 44 })
  t.equal(before.violation_count, 0, 'the frame before has no violation')
})

verifies(
  'replay:load:ok',
  inCI(async (t, channel) => {
    const client = clients[channel]
    const loaded = await client.call('load_recording', { path: join(recordings, 'drop.db') })
    t.match(loaded, { loaded: true, path: join(recordings, 'drop.db'), recording: 'drop' })
    const metadata = await client.call('get_metadata')
    t.match(metadata, { recording: 'drop', total_frames: loaded.total_frames })
    t.equal(metadata.bodies.length, loaded.bodies)
  }),
)

verifies(
  'replay:load:no-recording',
  inCI(async (t, channel) => {
    const client = await openReplayClient(t, channel, url)
    const error = await client.callError('get_frame', { frame_id: 1 })
    t.match(error, { code: 'NO_RECORDING', legacy_code: -32000, remedy: /load_recording/, retryable: false })
  }),
)

verifies(
  'replay:session:explicit',
  inCI(async (t, channel) => {
    const client = clients[channel]
    await client.call('load_recording', { path: 'drop' })
    const other = await client.call('get_frame', { frame_id: 45, recording: 'slide_at_45' })
    t.equal(other.recording, 'slide_at_45')
    t.equal((await client.call('get_metadata')).recording, 'drop')
  }),
)

verifies(
  'replay:frame:unknown',
  inCI(async (t, channel) => {
    const client = clients[channel]
    for (const tool of ['get_frame', 'check_friction_cone', 'check_penetration', 'check_resting_contact']) {
      const error = await client.callError(tool, { recording: 'slide_at_45', frame_id: 4711 })
      t.match(error, { code: 'FRAME_NOT_FOUND', data: { first_frame: 1, last_frame: 120 } }, tool)
    }
  }),
)

verifies(
  'replay:body:unknown',
  inCI(async (t, channel) => {
    const client = clients[channel]
    const calls = {
      get_body_state: { body_id: 77, frame_id: 1 },
      get_contacts_for_body: { body_id: 77, frame_id: 1 },
      get_body_energy: { body_id: 77 },
      compare_body_across_frames: { body_id: 77, frame_a: 1, frame_b: 2 },
      get_contact_history: { body_a_id: slab, body_b_id: 77, start_frame: 1, end_frame: 9 },
      check_friction_cone: { body_id: 77, frame_id: 1 },
    }
    for (const [tool, args] of Object.entries(calls)) {
      const error = await client.callError(tool, { ...args, recording: 'slide_at_45' })
      t.equal(error.code, 'BODY_NOT_FOUND', tool)
      t.ok((error.data.bodies as number[]).includes(slab), `${tool} lists the known bodies`)
    }
  }),
)

verifies(
  'app:validate:missing',
  inCI(async (t, channel) => {
    const client = clients[channel]
    const missing = await client.callError('get_body_state', { recording: 'drop', frame_id: 1 })
    t.match(missing, { code: 'INVALID_ARGUMENTS', message: /body_id/ })
    const wrong = await client.callError('get_frame', { recording: 'drop', frame_id: 'first' })
    t.match(wrong, { code: 'INVALID_ARGUMENTS', message: /frame_id/ })
    t.ok(Array.isArray(wrong.data.problems) && wrong.data.problems.length === 1)
  }),
)

verifies(
  'app:validate:did-you-mean',
  inCI(async (t, channel) => {
    const client = clients[channel]
    const error = await client.callError('get_frame', { recording: 'drop', frame_id: 1, max_point: 3 })
    t.match(error, { code: 'INVALID_ARGUMENTS', message: /max_point.*max_points/ })
  }),
)

verifies(
  'recording:roots:outside',
  inCI(async (t, channel) => {
    const client = clients[channel]
    const path = join(outside, 'outside', 'secret.db')
    const error = await client.callError('load_recording', { path })
    t.match(error, {
      code: 'OUTSIDE_ROOTS',
      remedy: /CAUSEWAY_RECORDING_ROOTS.*causeway roots add/,
      data: { setting: 'CAUSEWAY_RECORDING_ROOTS' },
    })
    const absent = await client.callError('load_recording', { path: join(outside, 'outside', 'absent.db') })
    t.equal(absent.code, 'OUTSIDE_ROOTS', 'errors do not reveal whether a file outside the roots exists')
    const folder = await client.callError('list_recordings', { directory: outside })
    t.equal(folder.code, 'OUTSIDE_ROOTS')
  }),
)

verifies(
  'recording:roots:symlink',
  inCI(async (t) => {
    const client = clients.http
    const error = await client.callError('load_recording', { path: join(outside, 'root', 'link.db') })
    t.equal(error.code, 'OUTSIDE_ROOTS')
  }),
)

verifies(
  'recording:file:missing',
  'below a root the error is different from a rejected path',
  inCI(async (t) => {
    const client = clients.http
    for (const path of [join(recordings, 'absent.db'), 'absent']) {
      const error = await client.callError('load_recording', { path })
      t.match(error, { code: 'RECORDING_NOT_FOUND', data: { searched: Array } }, path)
    }
  }),
)

verifies(
  'recording:file:not-a-database',
  'a text file is rejected over HTTP',
  inCI(async (t) => {
    const client = clients.http
    const error = await client.callError('load_recording', { path: 'not_a_database.db' })
    t.equal(error.code, 'NOT_A_DATABASE')
  }),
)

verifies(
  'recording:file:not-a-recording',
  'an asset database is rejected over HTTP',
  inCI(async (t) => {
    const client = clients.http
    for (const path of ['asset_database.db', 'empty.db']) {
      const error = await client.callError('load_recording', { path })
      t.equal(error.code, 'NOT_A_RECORDING', path)
    }
  }),
)

verifies(
  'replay:load:failure-keeps',
  'over HTTP',
  inCI(async (t) => {
    const client = clients.http
    await client.call('load_recording', { path: 'drop' })
    await client.callError('load_recording', { path: 'not_a_database.db' })
    t.equal((await client.call('get_metadata')).recording, 'drop')
  }),
)
