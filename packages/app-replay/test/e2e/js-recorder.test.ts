/** Tests of simulations by real engines, recorded by the JavaScript recorder. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import RAPIER from '@dimforge/rapier3d-compat'
import t from 'tap'
import { recordRapier } from '../../../../recorders/js/rapier.js'
import { Recorder } from '../../../../recorders/js/recorder.js'
import { box, type MujocoScene, simulateMujoco } from '../engine-kit.ts'
import { openReplay } from '../replay-kit.ts'

t.setTimeout(120_000)

const scenes: Readonly<Record<string, MujocoScene>> = {
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
  t.test(`Replay finds nothing in ${title} simulated by MuJoCo`, async (t) => {
    const { client, folder } = await openReplay(t, [])
    simulateMujoco(join(folder, 'run.mcap'), scene)
    const replay = client()
    t.match(await replay.call('load_recording', { path: 'run.mcap' }), {
      total_frames: scene.steps,
      missing: [],
    })
    t.same((await replay.call('diagnose', {})).findings, [])
  })

const ignored: Readonly<Record<string, readonly [attributes: string, rest: string]>> = {
  'excluded pairs': ['contype="5"', '<contact><exclude body1="one" body2="two"/></contact>'],
  'collision masks': ['contype="2"', ''],
}

for (const [title, [attributes, rest]] of Object.entries(ignored))
  t.test(`Replay does not expect contacts that MuJoCo ignores: ${title}`, async (t) => {
    const { client, folder } = await openReplay(t, [])
    const ball = (name: string, x: number, masks: string): string =>
      `<body name="${name}" pos="${x} 0 0.2"><freejoint/><geom size="0.2" mass="1" friction="0" ${masks}/></body>`
    const bodies = ball('one', -0.5, attributes) + ball('two', 0.5, 'contype="4"')
    const act: MujocoScene['act'] = (step, { qvel }) => {
      if (step === 1) qvel[0] = 2
    }
    simulateMujoco(join(folder, 'run.mcap'), { bodies, rest, steps: 200, act })
    const replay = client()
    await replay.call('load_recording', { path: 'run.mcap' })
    t.same((await replay.call('diagnose', {})).findings, [])
    // One body passes through two others.
    const { position_delta } = await replay.call('compare_body_across_frames', {
      body_id: 1,
      frame_a: 1,
      frame_b: 200,
    })
    t.ok(Number((position_delta as { x: number }).x) > 1)
  })

t.test('Replay finds nothing in a sleeping Rapier stack that a ball wakes', async (t) => {
  await RAPIER.init()
  const { client, folder } = await openReplay(t, [])
  const { dynamic, fixed } = RAPIER.RigidBodyDesc
  const { ball, cuboid } = RAPIER.ColliderDesc
  const world = new RAPIER.World({ x: 0, y: -9.81, z: 0 })
  world.timestep = 0.01
  const add = (kind: RAPIER.RigidBodyDesc, height: number, shape: RAPIER.ColliderDesc): RAPIER.RigidBody => {
    const body = world.createRigidBody(kind.setTranslation(0, height, 0))
    world.createCollider(shape.setFriction(0.5).setDensity(100), body)
    return body
  }
  add(fixed(), -0.5, cuboid(20, 0.5, 20))
  const lower = add(dynamic(), 0.2, cuboid(0.2, 0.2, 0.2))
  add(dynamic(), 0.6, cuboid(0.2, 0.2, 0.2))
  const file = join(folder, 'run.mcap')
  writeFileSync(file, '')
  const recorder = recordRapier(world, (bytes: Uint8Array) => appendFileSync(file, bytes))
  let [hasSlept, hasWoken] = [false, false]
  for (let step = 1; step <= 400; step++) {
    if (step === 300) add(dynamic(), 1.5, ball(0.1))
    world.step()
    recorder.step()
    hasSlept ||= lower.isSleeping()
    hasWoken ||= hasSlept && step > 300 && !lower.isSleeping()
  }
  recorder.close()
  world.free()
  t.ok(hasWoken, 'the ball wakes the stack')
  t.same((await client().call('diagnose', { recording: 'run' })).findings, [])
})

t.test('describeBody declares a conveyor belt of Rapier, whose friction is then not a finding', async (t) => {
  await RAPIER.init()
  const { client, folder } = await openReplay(t, [])
  const record = (name: string, options: (belt: RAPIER.RigidBody) => object): void => {
    const world = new RAPIER.World({ x: 0, y: -9.81, z: 0 })
    world.timestep = 0.01
    const belt = world.createRigidBody(
      RAPIER.RigidBodyDesc.kinematicVelocityBased().setTranslation(0, -0.5, 0),
    )
    world.createCollider(RAPIER.ColliderDesc.cuboid(20, 0.5, 20), belt)
    const box = world.createRigidBody(RAPIER.RigidBodyDesc.dynamic().setTranslation(0, 0.2, 0))
    world.createCollider(RAPIER.ColliderDesc.cuboid(0.2, 0.2, 0.2).setDensity(100), box)
    const file = join(folder, `${name}.mcap`)
    writeFileSync(file, '')
    const write = (bytes: Uint8Array): void => appendFileSync(file, bytes)
    const recorder = recordRapier(world, write, options(belt))
    for (let step = 1; step <= 200; step++) {
      belt.setTranslation({ x: 0, y: -0.5, z: 0 }, false)
      belt.setLinvel({ x: 1, y: 0, z: 0 }, true)
      world.step()
      recorder.step()
    }
    recorder.close()
    world.free()
  }
  const still = { name: 'belt', is_environment: true, position: [0, -0.5, 0], orientation: [1, 0, 0, 0] }
  record('undeclared', (belt) => ({ describeBody: (body: unknown) => (body === belt ? still : {}) }))
  record('declared', (belt) => ({
    describeBody: (body: unknown) => (body === belt ? { ...still, surface_velocity: [1, 0, 0] } : {}),
  }))
  const replay = client()
  const { findings } = await replay.call('diagnose', { recording: 'undeclared' })
  t.match(findings, [{ kind: 'friction_energy', severity: 'info', sentence: /belt drives bodies/ }])
  t.same((await replay.call('diagnose', { recording: 'declared' })).findings, [])
})

t.test('Replay finds a velocity change that MuJoCo did not cause, at its frame', async (t) => {
  const { client, folder } = await openReplay(t, [])
  const act: MujocoScene['act'] = (step, { qvel }) => {
    if (step === 100) qvel[2] = 0.5
  }
  simulateMujoco(join(folder, 'kick.mcap'), { bodies: box(0.2), steps: 200, act })
  const { findings } = await client().call('diagnose', { recording: 'kick' })
  t.match(findings, [{ frames: { first: 100 }, bodies: [1] }])
})

t.test('the JavaScript recorder reports a failing sink only once, and rejects unknown members', async (t) => {
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

t.test('the JavaScript recorder writes the same bytes for objects, rows and typed arrays', async (t) => {
  const record = (frame: Record<string, unknown>): string => {
    const parts: Uint8Array[] = []
    const recorder = new Recorder((bytes: Uint8Array) => parts.push(bytes), {
      dt: 0.01,
      commit: 'a',
      host: 'b',
    })
    for (let i = 0; i < 3; i++) recorder.frame(frame)
    recorder.flush()
    recorder.frame(frame)
    recorder.close()
    return Buffer.concat(parts).toString('hex')
  }
  const contacts = [
    { a: 1, b: 9, point: [1, 2, 3], depth: 0.5, tangent1: null },
    { a: 200, b: 9, point: new Float32Array([4, 5, 6]), normal_impulse: 7 },
    { a: 3, b: 9, point: new Set([7, null, 9]), depth: null },
  ]
  const unknown = Number.NaN
  const rows = {
    // Fields are written in the order of these members.
    ...{ frame_id: undefined, time: undefined, contacts_known: true, contact_a: [1, 200, 3] },
    contact_b: [9, 9, 9],
    contact_point: [[1, 2, 3], new Float32Array([4, 5, 6]), [7, null, 9]],
    ...{ contact_depth: [0.5, null, null], contact_normal_impulse: [null, 7, null] },
  }
  const typed = {
    ...rows,
    contact_point: new Float64Array([9, 9, 9, 1, 2, 3, 4, 5, 6, 7, unknown, 9]).subarray(3),
    contact_depth: new Float32Array([0.5, unknown, unknown]),
    contact_normal_impulse: new Float64Array([unknown, 7, unknown]),
  }
  const bytes = record({ position: [[0, 0, 1]], contacts })
  t.equal(record({ position: [0, 0, 1], ...rows }), bytes)
  t.equal(record({ position: new Float64Array([0, 0, 1]), ...typed }), bytes)
})
