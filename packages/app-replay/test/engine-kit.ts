/** MuJoCo simulations for tests. The JavaScript recorder records them to a file. */
import { appendFileSync, writeFileSync } from 'node:fs'
import load from 'mujoco-js'
import { recordMujoco } from '../../../recorders/js/mujoco.js'

// biome-ignore lint/suspicious/noExplicitAny: mujoco-js has no types
export const mujoco: any = await load()

export interface MujocoData {
  readonly qvel: Float64Array
  readonly qpos: Float64Array
  readonly ctrl: Float64Array
  readonly xfrc_applied: Float64Array
  readonly time: number
}

export interface MujocoScene {
  /** XML of the bodies. */
  readonly bodies: string
  /** XML after the bodies, such as actuators. */
  readonly rest?: string
  readonly option?: string
  readonly dt?: number
  readonly steps: number
  /** Changes the state before a step. */
  readonly act?: (step: number, data: MujocoData) => void
}

/** Simulates a scene with a floor and records it to a file. */
export function simulateMujoco(
  file: string,
  { bodies, rest = '', option = '', dt = 0.005, steps, act }: MujocoScene,
): void {
  mujoco.FS.writeFile(
    '/scene.xml',
    `<mujoco><option timestep="${dt}" cone="elliptic" impratio="10" ${option}/><worldbody>
       <geom type="plane" size="9 9 1" friction="0.5"/>${bodies}</worldbody>${rest}</mujoco>`,
  )
  const model = mujoco.MjModel.loadFromXML('/scene.xml')
  const data = new mujoco.MjData(model)
  writeFileSync(file, '')
  mujoco.mj_forward(model, data)
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

export const box = (z: number): string =>
  `<body pos="0 0 ${z}"><freejoint/><geom type="box" size="0.2 0.2 0.2" mass="2" friction="0.5"/></body>`

/** A torso with two legs, each on a hinge. */
export const walker = (z: number, damping = 0): string =>
  `<body name="torso" pos="0 0 ${z}"><freejoint/><geom type="box" size="0.2 0.12 0.1" mass="4" friction="0.8"/>
     ${[0.1, -0.1].map((y, i) => `<body pos="0 ${y} -0.1"><joint name="hip${i}" type="hinge" axis="0 1 0" damping="${damping}"/><geom type="capsule" size="0.05 0.15" pos="0 0 -0.2" mass="0.8" friction="0.8"/></body>`).join('')}</body>`

export const hipMotors = `<actuator><motor joint="hip0" gear="3"/><motor joint="hip1" gear="3"/></actuator>`

export const hipServos = `<actuator><position joint="hip0" kp="20"/><position joint="hip1" kp="20"/></actuator>`
