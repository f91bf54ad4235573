/** Compares the rigid-body simulation of the fault generator with closed forms. */
import t, { type Test } from 'tap'
import { dot, length, minus, rotate, type Vec3 } from '../fixtures/generate/recordings/vector.ts'
import type { RigidSpec } from '../fixtures/generate/rigid/body.ts'
import { type JointSpec, type RigidScene, World } from '../fixtures/generate/rigid/world.ts'

const g = 9.81
const down: Vec3 = [0, 0, -g]
const floor: RigidSpec = { id: 99, shape: { kind: 'plane' }, position: [0, 0, 0], friction: 1 }

/** Steps a scene for some seconds and calls `each` after every step with the time. */
function simulate(scene: RigidScene, seconds: number, each: (world: World, time: number) => void = () => {}) {
  const world = new World(scene)
  const steps = Math.round(seconds / scene.dt)
  for (let i = 1; i <= steps; i++) {
    world.step()
    each(world, i * scene.dt)
  }
  return world
}

function near(t: Test, actual: number, expected: number, tolerance: number, message: string): void {
  t.ok(Math.abs(actual - expected) <= tolerance, `${message}: ${actual} is ${expected} ± ${tolerance}`)
}

const ball = (id: number, position: Vec3, change: Partial<RigidSpec> = {}): RigidSpec => ({
  id,
  shape: { kind: 'sphere', radius: 0.1 },
  mass: 1,
  position,
  ...change,
})

const box = (id: number, position: Vec3, change: Partial<RigidSpec> = {}): RigidSpec => ({
  id,
  shape: { kind: 'box', half: [0.2, 0.2, 0.2] },
  mass: 2,
  position,
  ...change,
})

t.test('a thrown ball follows its parabola and keeps its energy', async (t) => {
  const scene: RigidScene = {
    bodies: [ball(1, [0, 0, 10], { velocity: [3, 0, 4] })],
    dt: 0.01,
    gravity: down,
    positions: 'mean',
  }
  const world = new World(scene)
  const { energy } = world
  for (let i = 0; i < 100; i++) world.step()
  const [x, , z] = world.body(1).position
  near(t, x, 3, 1e-9, 'x')
  near(t, z, 10 + 4 - g / 2, 1e-9, 'z')
  near(t, world.energy, energy, 1e-9, 'energy')
})

t.test(
  'a box that spins about its middle axis keeps energy and angular momentum and turns over',
  async (t) => {
    const spec = box(1, [0, 0, 0], {
      shape: { kind: 'box', half: [0.1, 0.2, 0.4] },
      spin: [0.01, 4, 0],
    })
    const scene: RigidScene = { bodies: [spec], dt: 0.01, gravity: [0, 0, 0] }
    const world = new World(scene)
    const [energy, momentum] = [world.energy, world.body(1).angularMomentum]
    let lowest = 1
    for (let i = 0; i < 1000; i++) {
      world.step()
      lowest = Math.min(lowest, rotate(world.body(1).orientation, [0, 1, 0])[1])
    }
    near(t, world.energy, energy, 1e-6 * energy, 'energy')
    near(t, length(minus(world.body(1).angularMomentum, momentum)), 0, 1e-9, 'angular momentum')
    t.ok(lowest < -0.9, 'the box turned over')
  },
)

t.test('a sliding box stops after v² / 2 mu g', async (t) => {
  const bodies = [floor, box(1, [0, 0, 0.1999], { velocity: [2, 0, 0], friction: 0.16 })]
  const world = simulate({ bodies, dt: 0.002, gravity: down }, 1)
  near(t, world.body(1).position[0], 4 / (2 * 0.4 * g), 0.01, 'distance')
  near(t, length(world.body(1).velocity), 0, 1e-6, 'speed')
})

t.test('a box on an incline of 30 degrees sticks with mu 0.7 and slides with mu 0.3', async (t) => {
  const tilt: Vec3 = [g * 0.5, 0, -g * Math.sqrt(0.75)]
  const run = (mu: number) =>
    simulate(
      { bodies: [floor, box(1, [0, 0, 0.1999], { friction: mu * mu })], dt: 0.01, gravity: tilt },
      1,
    ).body(1).velocity[0]
  near(t, run(0.7), 0, 1e-6, 'speed that sticks')
  near(t, run(0.3), g * (0.5 - 0.3 * Math.sqrt(0.75)), 0.01, 'speed after sliding for a second')
})

t.test('a skidding ball rolls with 5/7 of its speed after 2 v / 7 mu g', async (t) => {
  const bodies = [floor, ball(1, [0, 0, 0.0999], { velocity: [3, 0, 0], friction: 0.09 })]
  const end = (2 * 3) / (7 * 0.3 * g)
  let skidding = 0
  const world = simulate({ bodies, dt: 0.002, gravity: down }, 2 * end, ({ contacts, bodies }, time) => {
    const [contact] = contacts
    const ball = bodies[1]
    if (contact && ball && length(ball.velocityAt([ball.position[0], 0, 0])) > 0.01) skidding = time
  })
  near(t, skidding, end, 0.01, 'time')
  near(t, world.body(1).velocity[0], (5 / 7) * 3, 0.005, 'speed')
})

t.test('a capsule on its side rolls down an incline with g sin / (1 + I / m r²)', async (t) => {
  const tilt: Vec3 = [g * 0.2, 0, -g * Math.sqrt(0.96)]
  const rod: RigidSpec = {
    id: 1,
    shape: { kind: 'capsule', radius: 0.1, half_length: 0.3 },
    mass: 2,
    position: [0, 0, 0.0999],
    // Along y: a quarter turn about x.
    orientation: [Math.SQRT1_2, Math.SQRT1_2, 0, 0],
    friction: 0.64,
  }
  const world = simulate({ bodies: [floor, rod], dt: 0.005, gravity: tilt }, 1)
  const { inertia, velocity } = world.body(1)
  near(t, velocity[0], (g * 0.2) / (1 + inertia[2] / (2 * 0.01)), 0.005, 'speed after a second')
})

t.test('a dropped ball bounces to e² of its height', async (t) => {
  const bodies = [floor, ball(1, [0, 0, 1.1], { restitution: 0.8 })]
  let [highest, bounced] = [0, false]
  simulate({ bodies, dt: 0.001, gravity: down, positions: 'mean' }, 0.85, ({ contacts, bodies }) => {
    bounced ||= contacts.length > 0
    if (bounced) highest = Math.max(highest, (bodies[1]?.position[2] ?? 0) - 0.1)
  })
  near(t, highest, 0.64, 0.01, 'height')
})

t.test("Newton's cradle passes the speed of the first ball to the last", async (t) => {
  const row = Array.from({ length: 5 }, (_, i) =>
    ball(i + 1, [i * 0.201 - (i === 0 ? 0.3 : 0), 0, 0], {
      restitution: 1,
      velocity: [i === 0 ? 1 : 0, 0, 0],
    }),
  )
  const world = simulate({ bodies: row, dt: 0.002, gravity: [0, 0, 0] }, 0.8)
  t.same(
    world.bodies.map(({ velocity }) => Math.round(velocity[0] * 1e6) / 1e6),
    [0, 0, 0, 0, 1],
  )
})

t.test('an oblique impact of two balls in flight keeps momentum and both angular momenta', async (t) => {
  const bodies = [
    ball(1, [-0.5, 0.05, 0], { velocity: [2, 0, 0], friction: 0.5, restitution: 0.6 }),
    ball(2, [0.5, -0.05, 0.02], { mass: 3, velocity: [-1, 0, 0], friction: 0.5, spin: [0, 0, 5] }),
  ]
  const scene: RigidScene = { bodies, dt: 0.005, gravity: [0, 0, 0] }
  const total = ({ bodies }: World, axis: Vec3): readonly number[] => [
    bodies.reduce((sum, body) => sum + body.mass * dot(body.velocity, axis), 0),
    bodies.reduce((sum, { angularMomentum, position: [x, y, z], velocity: [u, v, w], mass }) => {
      const orbital: Vec3 = [mass * (y * w - z * v), mass * (z * u - x * w), mass * (x * v - y * u)]
      return sum + dot(angularMomentum, axis) + dot(orbital, axis)
    }, 0),
  ]
  const start = new World(scene)
  const end = simulate(scene, 1)
  t.ok(end.body(1).velocity[0] < 0, 'the balls met')
  for (const axis of [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ] as const) {
    const [momentum = 0, angular = 0] = total(start, axis)
    const [after = 0, angularAfter = 0] = total(end, axis)
    near(t, after, momentum, 1e-9, 'momentum')
    // The moments of the impulses refer to the poses before the step.
    near(t, angularAfter, angular, 1e-3, 'angular momentum')
  }
})

t.test('a stack of four boxes rests and carries its weight', async (t) => {
  const bodies = [
    floor,
    ...[0, 1, 2, 3].map((i) => box(i + 1, [0.01 * i, 0, 0.1999 + i * 0.3998], { friction: 0.25 })),
  ]
  const world = simulate({ bodies, dt: 0.01, gravity: down }, 1)
  for (const { id, velocity } of world.bodies) near(t, length(velocity), 0, 1e-4, `speed of ${id}`)
  const load = world.contacts.filter(({ b }) => b.isFixed).reduce((sum, { n }) => sum + n, 0) / 0.01
  near(t, load, 4 * 2 * g, 0.01, 'load on the floor')
})

const pivot: RigidSpec = { id: 98, shape: { kind: 'sphere', radius: 0.001 }, position: [0, 0, 0] }

t.test('a pendulum swings with the period of its equation', async (t) => {
  const angle = 0.1
  const bob = ball(1, [Math.sin(angle), 0, -Math.cos(angle)])
  const joint: JointSpec = { a: 98, b: 1, anchor: [0, 0, 0] }
  const crossings: number[] = []
  let last = Math.sin(angle)
  const scene: RigidScene = { bodies: [pivot, bob], joints: [joint], dt: 0.002, gravity: down }
  const world = simulate(scene, 4.2, ({ bodies }, time) => {
    const x = bodies[1]?.position[0] ?? 0
    if (x < 0 !== last < 0) crossings.push(time)
    last = x
  })
  const length = Math.sqrt((1 + 0.4 * 0.01) / g)
  const period = 2 * Math.PI * length * (1 + angle ** 2 / 16)
  near(t, (crossings[2] ?? 0) - (crossings[0] ?? 0), period, 0.01, 'period')
  near(t, world.energy, new World(scene).energy, 0.002, 'energy')
})

t.test('a spinning top precesses with m g r / L', async (t) => {
  const spin = 200
  const top: RigidSpec = {
    id: 1,
    shape: { kind: 'box', half: [0.1, 0.1, 0.02] },
    mass: 1,
    // Its axis is horizontal, along x; the tip is the pivot.
    position: [0.15, 0, 0],
    orientation: [Math.SQRT1_2, 0, Math.SQRT1_2, 0],
    spin: [spin, 0, 0],
  }
  const scene: RigidScene = {
    bodies: [pivot, top],
    joints: [{ a: 98, b: 1, anchor: [0, 0, 0] }],
    dt: 0.0005,
    gravity: down,
  }
  const moment = (1 * (0.01 + 0.01)) / 3
  const rate = (1 * g * 0.15) / (moment * spin)
  const world = simulate(scene, 1)
  const [x, y] = world.body(1).position
  near(t, Math.atan2(y, x), rate * 1, 0.03 * rate, 'angle after a second')
})

t.test('a motor turns a hinge with its torque up to its speed', async (t) => {
  const wheel: RigidSpec = { ...ball(1, [0, 0, 0]), shape: { kind: 'sphere', radius: 0.5 }, mass: 2 }
  const motor = { speed: 3, maxTorque: 0.4 }
  const scene: RigidScene = {
    bodies: [pivot, wheel],
    joints: [{ a: 98, b: 1, anchor: [0, 0, 0], axis: [0, 1, 0], motor }],
    dt: 0.01,
    gravity: down,
  }
  near(t, simulate(scene, 0.5).body(1).spin[1], (0.5 * 0.4) / (0.4 * 2 * 0.25), 0.01, 'spin at full torque')
  near(t, simulate(scene, 3).body(1).spin[1], 3, 1e-6, 'final spin')
})

t.test(
  'a tilted box falls flat, loses energy only in impacts, and equal scenes give equal runs',
  async (t) => {
    const tilted = box(1, [0, 0, 0.6], { orientation: [Math.cos(0.2), Math.sin(0.2), 0, 0], friction: 0.25 })
    const scene: RigidScene = { bodies: [floor, tilted], dt: 0.005, gravity: down }
    const run = () => {
      const energies: number[] = []
      const world = simulate(scene, 2, (world) => energies.push(world.energy))
      return { energies, world }
    }
    const { energies, world } = run()
    const gains = energies.map((energy, i) => energy - (energies[i - 1] ?? energy))
    t.ok(Math.max(...gains) < 0.03, `largest gain ${Math.max(...gains)} J`)
    near(t, world.body(1).position[2], 0.2, 0.002, 'height at rest')
    t.same(run().energies, energies)
  },
)
