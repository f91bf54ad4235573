/** Distances of shapes, and contacts that the shapes contradict. */
import type { BodyGeometry } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { overlapLaw } from '../../src/domain/laws/contact/overlap-law.ts'
import { measureSeparation } from '../../src/domain/shapes/separation.ts'
import { type Pose, type Solid, toSolid } from '../../src/domain/shapes/solid.ts'
import { dt, floor, g, runLaw, type SceneSpec } from './law-kit.ts'

const upright: Pose['turn'] = [1, 0, 0, 0]
/** A quarter turn about y: z points along x. */
const lyingTurn: Pose['turn'] = [Math.SQRT1_2, 0, Math.SQRT1_2, 0]
const at = (x: number, y: number, z: number, turn = upright): Pose => ({ at: [x, y, z], turn })

const geometry = (
  body_id: number,
  shape: BodyGeometry['shape'],
  more: Partial<BodyGeometry> = {},
): BodyGeometry => ({
  ...{ body_id, name: null, shape, half_extents: null, inertia: null, position: null, orientation: null },
  ...more,
})
const solid = (shape: BodyGeometry['shape'], half: readonly [number, number, number] | null = null): Solid =>
  toSolid(geometry(1, shape, { half_extents: half })) as Solid

const sphere = solid({ kind: 'sphere', radius: 0.5 })
const capsule = solid({ kind: 'capsule', radius: 0.2, half_length: 0.5 })
const box = solid({ kind: 'box' }, [0.5, 0.5, 0.5])
const plane = solid({ kind: 'plane' })

verifies('replay:laws:overlap', 'distances of shapes equal their closed forms', async (t) => {
  const cases: readonly (readonly [Solid, Pose, Solid, Pose, number])[] = [
    [sphere, at(0, 0, 0), sphere, at(1.3, 0, 0), 0.3],
    [sphere, at(0, 0, 0.4), plane, at(0, 0, 0), -0.1],
    [plane, at(0, 0, 1, lyingTurn), sphere, at(2, 0, 0), 1.5],
    [capsule, at(0, 0, 1), plane, at(0, 0, 0), 0.3],
    [capsule, at(0, 0, 1, lyingTurn), plane, at(0, 0, 0), 0.8],
    [box, at(0, 0, 0.45), plane, at(0, 0, 0), -0.05],
    [capsule, at(0, 0, 0), capsule, at(1, 0, 0), 0.6],
    [capsule, at(0, 0, 0), capsule, at(0, 0.3, 0, lyingTurn), -0.1],
    [sphere, at(1.1, 0, 0), box, at(0, 0, 0), 0.1],
    [sphere, at(0.2, 0, 0), box, at(0, 0, 0), -0.8],
    [capsule, at(0.9, 0, 0, lyingTurn), box, at(0, 0, 0), -0.3],
    [box, at(0, 0, 0), box, at(0.9, 0, 0), -0.1],
    [
      box,
      at(0, 0, 0),
      box,
      at(1.25, 0, 0, [Math.cos(Math.PI / 8), 0, 0, Math.sin(Math.PI / 8)]),
      0.75 - Math.SQRT1_2,
    ],
  ]
  for (const [a, poseA, b, poseB, expected] of cases) {
    t.ok(Math.abs(measureSeparation(a, poseA, b, poseB) - expected) < 1e-6, `${a.kind} ${b.kind} ${expected}`)
    t.ok(Math.abs(measureSeparation(b, poseB, a, poseA) - expected) < 1e-6, 'in either order')
  }
})

const ball = geometry(1, { kind: 'sphere', radius: 0.5 })
const ground = geometry(floor, { kind: 'plane' }, { position: [0, 0, 0] })

/** A ball that sinks into the floor at 1 m/s from frame 6 on. */
const sinking = (touches: SceneSpec['touches']): SceneSpec => ({
  frames: 12,
  masses: [1],
  geometry: [ball, ground],
  state: (frame) => ({ position: [0, 0, 0.55 - 0.01 * frame], velocity: [0, 0, -1] }),
  ...(touches && { touches }),
})

verifies('replay:laws:overlap', 'overlap reports shapes that cross without a contact row', async (t) => {
  const falling = { ...sinking(() => []), gravity: [0, 0, 0] as const }
  t.match(runLaw(overlapLaw(), falling), [
    { kind: 'missing_contact', pair: [1, floor], frames: { first: 7, last: 12 } },
  ])
  t.same(runLaw(overlapLaw(), { ...falling, touches: (frame) => (frame > 6 ? [{ n: 1 }] : []) }), [])
})

verifies('replay:laws:overlap', 'overlap reports a bounce without a contact row', async (t) => {
  const bounce: SceneSpec = {
    frames: 12,
    masses: [1],
    geometry: [ball, ground],
    state: (frame) => {
      const speed = frame < 6 ? -1 : 1
      return {
        position: [0, 0, 0.501 + 0.01 * Math.abs(frame - 5)],
        velocity: [0, 0, speed - g * dt * frame],
      }
    },
  }
  t.match(runLaw(overlapLaw(), bounce), [{ kind: 'missing_contact', pair: [1, floor], frames: { first: 6 } }])
})

verifies('replay:laws:overlap', 'overlap reports an impulse across a gap', async (t) => {
  const hovering = (n: number): SceneSpec => ({
    frames: 5,
    masses: [1],
    geometry: [ball, ground],
    state: () => ({ position: [0, 0, 0.8] }),
    touches: () => [{ n }],
  })
  t.match(runLaw(overlapLaw(), hovering(g * dt)), [{ kind: 'contact_gap', pair: [1, floor], limit: 0.01 }])
  t.same(runLaw(overlapLaw(), hovering(0)), [], 'a speculative contact has no impulse')
})

t.end()
