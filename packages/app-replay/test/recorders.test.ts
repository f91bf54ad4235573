/** Replay on files of the Python recorder. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openReplay } from './replay-kit.ts'

const example = fileURLToPath(new URL('../../../recorders/python/examples/bouncing_ball.py', import.meta.url))
const python = spawnSync('python3', ['--version']).status === 0
const options = python ? {} : { skip: 'python3 is not installed' }

t.test('Replay opens an MCAP file by path and finds nothing in a correct simulation', options, async (t) => {
  const { client, folder } = await openReplay(t, [])
  const replay = client()
  const { stdout } = spawnSync('python3', ['-B', example, join(folder, 'ball.mcap')], { encoding: 'utf8' })
  t.match(stdout, 'ball.mcap: 200 frames')
  t.match(await replay.call('list_recordings', {}), {
    recordings: [{ recording: 'ball', name: 'ball.mcap' }],
  })
  t.match(await replay.call('load_recording', { path: 'ball.mcap' }), { total_frames: 200, bodies: 1 })
  const { findings, checked, not_checked } = await replay.call('diagnose', {})
  t.same(findings, [])
  t.ok((checked as unknown[]).length > 5, 'the laws that the data allows were checked')
  t.ok((not_checked as unknown[]).length > 0, 'the other laws are listed')
  t.match(await replay.call('get_metadata', {}), { bodies: [{ body_id: 1, mass: 2 }], dt_s: 0.01 })
})
