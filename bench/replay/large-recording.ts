/**
 * A recording of any length with a closed-form motion, in the format of the C++ recorder.
 *
 * The first bodies rest on the floor; the others bounce on it forever, each with its own period: a semi-implicit Euler step gives
 * v(k) = v0 - k g dt, and with v0 = g dt (P - 1) / 2 the impulse m (2 v0 + g dt) of every P-th step returns the body to its initial
 * state. Four contact points per pair.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cached } from '../../fixtures/generate/generated/cache.ts'
import { current } from '../../fixtures/generate/recordings/eras.ts'
import { withDatabase } from '../../fixtures/generate/recordings/recorder.ts'
import {
  type BodySpec,
  type BodyState,
  type Contact,
  type Energy,
  environmentBit,
  gravity,
  type MeasuredFrame,
} from '../../fixtures/generate/recordings/scene.ts'
import type { Vec3 } from '../../fixtures/generate/recordings/vector.ts'

/** Length and size. */
export interface LargeSpec {
  readonly frames: number
  readonly bodies: number
  /** Number of bodies that rest on the floor. Each adds four contact points to every frame. */
  readonly resting: number
}

/** Frames per flush: about what the recorder collects in 100 ms. */
const flushFrames = 24

/** Seconds. */
const dt = 1 / 60
const floor = environmentBit + 1000
const mu = 0.5
const half = 0.5

/** The fault to find: in this frame the quaternion of this body has length 1.01. */
export const locateFault = ({ frames }: LargeSpec) => ({ frame: Math.floor(0.73 * frames), body: 7 })

/** Returns the path of the recording. It is created once and cached in `.causeway-bench` until this script changes. */
export async function largeRecording(spec: LargeSpec): Promise<string> {
  const folder = join(import.meta.dirname, '../../.causeway-bench', `${spec.frames}x${spec.bodies}`)
  const key = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 16)
  return join(
    await cached(folder, key, async (made) => writeLargeRecording(join(made, 'large.db'), spec)),
    'large.db',
  )
}

export function writeLargeRecording(path: string, spec: LargeSpec): void {
  const bodies = Array.from(
    { length: spec.bodies },
    (_, i): BodySpec => ({
      id: i + 1,
      mass: 1 + i,
      at: [3 * i, 0, half],
      shape: 'box',
      half: [half, half, half],
    }),
  )
  let before = 0
  withDatabase(path, current.schema, (insert, transaction) => {
    for (let first = 1; first <= spec.frames; first += flushFrames) {
      const frames: MeasuredFrame[] = []
      for (let id = first; id < first + flushFrames && id <= spec.frames; id++) {
        const frame = frameAt(id, bodies, spec, before)
        before = frame.system.total
        frames.push(frame)
      }
      const take = { bodies, frames, mu, restitution: 1 }
      transaction(() => {
        for (const write of current.writers) for (const frame of frames) write(insert, frame, take)
      })
    }
  })
}

/** Returns the height, the velocity and the impulse of the floor for one body in one frame. */
function motion(
  { id, mass, at }: BodySpec,
  frame: number,
  { resting }: LargeSpec,
): { z: number; v: number; impulse: number } {
  if (id <= resting) return { z: at[2], v: 0, impulse: mass * gravity * dt }
  const period = 40 + id
  const launch = (gravity * dt * (period - 1)) / 2
  // Different phases give every frame about the same number of contacts.
  const k = (frame + 7 * id) % period
  const z = at[2] + dt * (k * launch - (gravity * dt * k * (k + 1)) / 2)
  if (k > 0) return { z: z + launch * dt, v: launch - k * gravity * dt, impulse: 0 }
  return { z: z + launch * dt, v: launch, impulse: mass * (2 * launch + gravity * dt) }
}

function frameAt(id: number, bodies: readonly BodySpec[], spec: LargeSpec, before: number): MeasuredFrame {
  const states: BodyState[] = []
  const energies: Energy[] = []
  const contacts: Contact[] = []
  const fault = locateFault(spec)
  for (const body of bodies) {
    const { z, v, impulse } = motion(body, id, spec)
    const [x, y] = body.at
    const turn = 0.5 * body.id * dt * id
    const length = id === fault.frame && body.id === fault.body ? 1.01 : 1
    const isResting = body.id <= spec.resting
    const spin = isResting ? 0 : body.id
    const angle = isResting ? 0 : turn
    states.push({
      body: body.id,
      position: [x, y, z],
      orientation: [length * Math.cos(angle), 0, 0, length * Math.sin(angle)],
      velocity: [0, 0, v],
      spin: [0, 0, spin],
      acceleration: [0, 0, impulse / body.mass / dt - gravity],
      angularAcceleration: [0, 0, 0],
    })
    const linear = 0.5 * body.mass * v * v
    const rotational = (0.5 * body.mass * spin * spin) / 6
    const potential = body.mass * gravity * z
    energies.push({ linear, rotational, potential, total: linear + rotational + potential })
    if (impulse > 0)
      contacts.push(
        ...cornerContacts(body, motion(body, id - 1, spec), { impulse, restitution: isResting ? 0 : 1 }),
      )
  }
  const sum = (key: keyof Energy): number => energies.reduce((all, one) => all + one[key], 0)
  const total = sum('total')
  return {
    id,
    time: id * dt,
    states,
    energies,
    contacts,
    solver: { iterations: contacts.length > 0 ? 12 : 0, residual: 1e-9, converged: contacts.length > 0 },
    system: {
      linear: sum('linear'),
      rotational: sum('rotational'),
      potential: sum('potential'),
      total,
      delta: total - before,
      injection: total - before > Math.max(1e-6 * Math.abs(total), 1e-9),
    },
  }
}

/** Returns the four lower corners, each with a quarter of the impulse. */
function cornerContacts(
  { id, at }: BodySpec,
  { z, v }: { z: number; v: number },
  { impulse, restitution }: { impulse: number; restitution: number },
): Contact[] {
  return [
    [1, 1],
    [1, -1],
    [-1, -1],
    [-1, 1],
  ].map(([x = 0, y = 0]) => {
    const lever: Vec3 = [x * half, y * half, -half]
    const point: Vec3 = [at[0] + lever[0], at[1] + lever[1], z - half]
    return {
      a: id,
      b: floor,
      normal: [0, 0, -1],
      tangent1: [1, 0, 0],
      tangent2: [0, 1, 0],
      pointA: point,
      pointB: point,
      leverA: lever,
      leverB: point,
      depth: 0.001,
      closing: v,
      mu,
      restitution,
      n: impulse / 4,
      t1: 0,
      t2: 0,
    }
  })
}
