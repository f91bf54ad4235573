/** A top that tumbles in free fall, in closed form: the reference for imported files. */
import type { Frame, Recording, RecordingLibrary } from '../src/index.ts'

export type Quaternion = readonly [number, number, number, number]

/** A state of the top. The orientation is w first; the angular velocity is in the body frame. */
export interface TumbleRow {
  readonly time: number
  readonly position: readonly number[]
  readonly velocity: readonly number[]
  readonly orientation: Quaternion
  readonly spin: readonly [number, number, number]
}

const [mass, g] = [2, 9.81]

/**
 * Returns the torque-free rotation of a symmetric top in closed form: inertia (1, 1, 2), spin s about its axis,
 * transverse rate p.
 */
export function tumble(frames: number, dt = 0.01): readonly TumbleRow[] {
  const [p, s] = [1.5, 2]
  // Body rates precess at (I3 - I1) / I1 * s = s. In space, the axis precesses at |L| / I1 about L.
  const momentum = Math.hypot(p, 2 * s)
  const tilt = Math.acos((2 * s) / momentum)
  return Array.from({ length: frames }, (_, i) => {
    const time = (i + 1) * dt
    // Euler angles z-x-z about L: precession, constant tilt, spin.
    const orientation = multiply(
      multiply(about(2, momentum * time), about(0, tilt)),
      about(2, (s - momentum * Math.cos(tilt)) * time),
    )
    const phase = (s - momentum * Math.cos(tilt)) * time
    return {
      time,
      position: [0.3 * time, 0, 10 - (g * time ** 2) / 2],
      velocity: [0.3, 0, -g * time],
      orientation,
      spin: [p * Math.sin(phase), p * Math.cos(phase), s],
    }
  })
}

const about = (axis: number, angle: number): Quaternion => {
  const part = (k: number) => (k === axis ? Math.sin(angle / 2) : 0)
  return [Math.cos(angle / 2), part(0), part(1), part(2)]
}

const multiply = ([a, b, c, d]: Quaternion, [e, f, h, k]: Quaternion): Quaternion => [
  a * e - b * f - c * h - d * k,
  a * f + b * e + c * k - d * h,
  a * h - b * k + c * e + d * f,
  a * k + b * h - c * f + d * e,
]

/** Records the same run as lines, the reference for every format. */
export async function recordLines(library: RecordingLibrary, rows: readonly TumbleRow[]): Promise<Recording> {
  const run = { run: { gravity: [0, 0, -g], bodies: [{ id: 1, name: 'top', mass, inertia: [1, 1, 2] }] } }
  const frames = rows.map(({ time, position, velocity, orientation, spin }, i) => ({
    frame_id: i + 1,
    time,
    bodies: [{ id: 1, position, velocity, orientation, angular_velocity: spin }],
  }))
  const bytes = Buffer.from([run, ...frames].map((line) => `${JSON.stringify(line)}\n`).join(''))
  await library.recorder.write(
    'reference',
    (async function* () {
      yield bytes
    })(),
  )
  return (await library.open('reference')).recording
}

export async function readFrames(recording: Recording): Promise<readonly Frame[]> {
  const total = recording.summary.frames?.total_frames ?? 0
  return Promise.all(Array.from({ length: total }, (_, i) => recording.frame(i + 1)))
}

export const tumbleRun = { gravity: [0, 0, -g] }
export const tumbleConstants = { mass, inertia: [1, 1, 2] }
