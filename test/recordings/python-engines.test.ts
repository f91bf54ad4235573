/**
 * Replay on runs that the adapters of the Python recorder recorded from MuJoCo and PyBullet. Where the packages cannot be fetched, the
 * adapters are only tested with the stand-ins of packages/app-replay/test/engines.
 */
import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import t from 'tap'
import { openReplay, toRows } from '../../packages/app-replay/test/replay-kit.ts'
import { pythonPackages } from '../downloads/samples.mjs'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(240_000)

const clean = {
  mujoco: ['rest', 'slide', 'slide-pyramidal', 'stack', 'walker', 'arm'],
  pybullet: ['rest', 'slide', 'stack', 'spin', 'arm', 'robot'],
}

/** Frame of the kick and ids of the bodies whose velocity it changes; body 0 of MuJoCo is the world. */
const kicks = [
  { run: 'mujoco-kick', frame: 50, body: 1 },
  { run: 'mujoco-kick-leg', frame: 40, body: 2 },
  { run: 'pybullet-kick', frame: 40, body: 1 },
  { run: 'pybullet-kick-robot', frame: 40, body: 1 },
]

const packages = pythonPackages(process.env)
if (packages === undefined)
  t.test(
    'MuJoCo and PyBullet',
    { skip: 'they are not fetched: node test/downloads/samples.mjs' },
    async () => {},
  )
else
  verifies('replay:engines', 'diagnose of MuJoCo and PyBullet in Python finds only the kicks', async (t) => {
    const { client, folder } = await openReplay(t, [])
    const env = {
      ...process.env,
      PYTHONPATH: [`${repository}/recorders/python`, packages].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
    }
    const program = `${repository}/test/recordings/python_engines.py`
    const run = spawnSync('python3', [program, folder], { env, encoding: 'utf8' })
    t.equal(run.status, 0, run.stderr)
    const replay = client()
    for (const [engine, scenes] of Object.entries(clean))
      for (const scene of scenes) {
        const { findings, checked } = await replay.call('diagnose', { recording: `${engine}-${scene}` })
        t.same(findings, [], `${engine}-${scene}`)
        const isHeld = scene === 'arm'
        const law = isHeld ? 'finite_numbers' : scene === 'spin' ? 'free_motion' : 'contact_momentum'
        t.ok((checked as string[]).includes(law), `${engine}-${scene}: ${law}`)
      }
    for (const { run, frame, body } of kicks) {
      const { findings } = await replay.call('diagnose', { recording: run })
      const rows = toRows(findings)
      t.ok(rows.length > 0, run)
      for (const { frames, bodies } of rows) {
        t.match(frames, { first: frame, last: frame }, run)
        t.ok((bodies as number[]).includes(body), run)
      }
    }
  })
