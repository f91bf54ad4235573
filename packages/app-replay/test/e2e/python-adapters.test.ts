/**
 * Tests of the Python adapters. They record stand-ins with the API of MuJoCo and PyBullet (`engines/stand-ins/`).
 * The real engines are recorded in test/recordings.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { openReplay } from '../replay-kit.ts'

const recorders = fileURLToPath(new URL('../../../../recorders/python', import.meta.url))
const standIns = fileURLToPath(new URL('../engines/stand-ins', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

/** Simulations with the two lines of the README around their loop. */
const programs = {
  mujoco: `
import mujoco, causeway_recorder
model = mujoco.MjModel()
data = mujoco.MjData(model)
rec = causeway_recorder.mujoco(model, data)
for _ in range(200):
    mujoco.mj_step(model, data)
    rec.step()
`,
  pybullet: `
import pybullet as p, causeway_recorder
rec = causeway_recorder.pybullet(p, damping=(0, 0))
for _ in range(200):
    rec.step(p.stepSimulation())
`,
} as const

const run = (program: string, folder: string) =>
  spawnSync('python3', ['-c', program], {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: `${recorders}:${standIns}`, PYTHONDONTWRITEBYTECODE: '1' },
    encoding: 'utf8',
  })

for (const [engine, program] of Object.entries(programs)) {
  if (!hasPython) {
    t.test(engine, { skip: 'python3 is not installed' }, async () => {})
    continue
  }
  verifies(
    'replay:engines',
    `diagnose does not report a sliding body recorded by a Python stand-in for ${engine}`,
    async (t) => {
      const { client, folder } = await openReplay(t, [])
      const { status, stderr } = run(program, folder)
      t.same({ status, stderr }, { status: 0, stderr: '' })
      const replay = client()
      t.match(await replay.call('load_recording', { path: 'run.mcap' }), { total_frames: 200, missing: [] })
      const { findings, checked } = await replay.call('diagnose', {})
      t.same(findings, [])
      for (const law of ['contact_momentum', 'friction_momentum', 'angular_momentum', 'solver_convergence'])
        t.ok((checked as readonly string[]).includes(law), law)
    },
  )
  t.test(`describe_body adds members of bodies recorded by a Python stand-in for ${engine}`, async (t) => {
    const { client, folder } = await openReplay(t, [])
    const members = `{"name": "conveyor", "surface_velocity": [3, 0, 0]}`
    const described = program.replace(
      /(causeway_recorder\.\w+\(.*)\)/,
      `$1, describe_body=lambda body: ${members} if body == 0 else {})`,
    )
    const { status, stderr } = run(described, folder)
    t.same({ status, stderr }, { status: 0, stderr: '' })
    const { findings } = await client().call('diagnose', { recording: 'run' })
    // The surface is in fact at rest.
    const sentence = /conveyor .* relative to its recorded surface_velocity \(3 m\/s\)\. Correct /
    t.match(findings, [{ kind: 'friction_energy', severity: 'info', sentence }])
  })
}
