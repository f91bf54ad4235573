import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { shellBlocks } from './blocks.ts'
import { run } from './program.ts'

t.setTimeout(300_000)

const { url } = await startServer(t, { dir: t.testdir() })

/** Runs the n-th block of an example's README against the server of this test. */
async function runBlock(t: Test, folder: string, n = 0) {
  const block = shellBlocks(readFileSync(`${repository}/examples/${folder}/README.md`, 'utf8'))[n]
  const commands = block?.commands
    .replace('http://localhost:3100', url)
    .replace(/^node /, `'${process.execPath}' `)
  const { code, stdout, stderr } = await run(t, commands ?? 'exit 1', {})
  t.equal(code, 0, stderr)
  return { stdout, block }
}

async function ask(name: string, args: object) {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(args) }
  return (await fetch(`${url}/api/apps/replay/tools/${name}`, init)).json()
}

t.test('record-curl: what its README sends is stored, and answered as it shows', async (t) => {
  for (const n of [0, 1]) {
    const { stdout, block } = await runBlock(t, 'record-curl', n)
    t.match(JSON.parse(stdout), block?.answer as object)
  }
})

t.test('record-python: a run of the standard library is recorded in batches', async (t) => {
  const { stdout, block } = await runBlock(t, 'record-python')
  t.equal(stdout, block?.output)
  const metadata = await ask('get_metadata', { recording: 'python-ball' })
  t.match(metadata, { total_frames: 200, contiguous: true, environment_bodies: [{ instance_id: 2 }] })
})

t.test(
  'record-mujoco: a run of an engine is recorded while it is simulated, with its contacts',
  async (t) => {
    const { stdout, block } = await runBlock(t, 'record-mujoco')
    t.match(JSON.parse(stdout), block?.answer as object)
    const frame = await ask('get_frame', { recording: 'mujoco-box', frame_id: 100 })
    t.match(frame, { collisions: [{ body_a_id: 1, body_b_id: 0x8000_0002, normal: { z: -1 } }] })
    const { friction_constraints } = frame as { friction_constraints: Record<string, number>[] }
    const carried = friction_constraints.reduce((sum, { normal_lambda = 0 }) => sum + normal_lambda, 0)
    t.ok(Math.abs(carried - 2 * 9.81 * 0.01) < 0.02, `the floor carries the box: ${carried} N·s`)
  },
)
