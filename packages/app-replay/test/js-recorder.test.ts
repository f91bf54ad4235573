/** Replay on simulations of real engines that the JavaScript recorder recorded. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import load from 'mujoco-js'
import t from 'tap'
import { recordMujoco } from '../../../recorders/js/mujoco.js'
import { Recorder } from '../../../recorders/js/recorder.js'
import { openReplay } from './replay-kit.ts'

t.setTimeout(120_000)

// biome-ignore lint/suspicious/noExplicitAny: mujoco-js has no types
const mujoco: any = await load()

interface Scene {
  /** XML of the bodies. */
  readonly bodies: string
  readonly steps: number
  /** Changes the state before a step. */
  readonly act?: (step: number, data: { qvel: Float64Array }) => void
}

/** Simulates a scene on a floor and records it to a file. */
function simulate(file: string, { bodies, steps, act }: Scene): void {
  mujoco.FS.writeFile(
    '/scene.xml',
    `<mujoco><option timestep="0.005" cone="elliptic" impratio="10"/><worldbody>
       <geom type="plane" size="9 9 1" friction="0.5"/>${bodies}</worldbody></mujoco>`,
  )
  const model = mujoco.MjModel.loadFromXML('/scene.xml')
  const data = new mujoco.MjData(model)
  writeFileSync(file, '')
  const recorder = recordMujoco(mujoco, model, data, (bytes: Uint8Array) => appendFileSync(file, bytes))
  for (let step = 1; step <= steps; step++) {
    act?.(step, data)
    mujoco.mj_step(model, data)
    recorder.step()
  }
  recorder.close()
  data.delete()
  model.delete()
}

const box = (z: number): string =>
  `<body pos="0 0 ${z}"><freejoint/><geom type="box" size="0.2 0.2 0.2" mass="2" friction="0.5"/></body>`

const scenes: Readonly<Record<string, Scene>> = {
  'a box at rest': { bodies: box(0.2), steps: 200 },
  'a slide': {
    bodies: box(0.2),
    steps: 200,
    act: (step, { qvel }) => {
      if (step === 1) qvel[0] = 2
    },
  },
  'a stack of five boxes': { bodies: [0.2, 0.6, 1, 1.4, 1.8].map(box).join(''), steps: 200 },
}

for (const [title, scene] of Object.entries(scenes))
  t.test(`Replay finds nothing in ${title} of MuJoCo`, async (t) => {
    const { client, folder } = await openReplay(t, [])
    simulate(join(folder, 'run.mcap'), scene)
    const replay = client()
    t.match(await replay.call('load_recording', { path: 'run.mcap' }), {
      total_frames: scene.steps,
      missing: [],
    })
    t.same((await replay.call('diagnose', {})).findings, [])
  })

t.test('Replay finds a kick that MuJoCo did not cause, at its frame', async (t) => {
  const { client, folder } = await openReplay(t, [])
  const act: Scene['act'] = (step, { qvel }) => {
    if (step === 100) qvel[2] = 0.5
  }
  simulate(join(folder, 'kick.mcap'), { bodies: box(0.2), steps: 200, act })
  const { findings } = await client().call('diagnose', { recording: 'kick' })
  t.match(findings, [{ frames: { first: 100 }, bodies: [1] }])
})

t.test('the JavaScript recorder reports a sink that fails once, and rejects unknown members', async (t) => {
  const errors: unknown[] = []
  const fail = (): never => {
    throw new Error('full')
  }
  const recorder = new Recorder(fail, { dt: 0.01 }, { onError: (error: unknown) => errors.push(error) })
  for (let i = 0; i < 3; i++) recorder.frame({ position: [0, 0, i] })
  recorder.close()
  t.match(errors, [{ message: 'full' }])
  t.throws(() => recorder.frame({ positions: [1] }), /Frame has no member positions/)
  t.throws(() => recorder.frame({ contacts: [{ a: 1, b: 2, norm: 1 }] }), /no member norm/)
})
