/** Tests of articulated models: MuJoCo simulations, and joints in closed form. */
import { join } from 'node:path'
import t from 'tap'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { hipServos, type MujocoData, type MujocoScene, simulateMujoco, walker } from './engine-kit.ts'
import { openReplay, recordLines, toRows } from './replay-kit.ts'

t.setTimeout(120_000)

/** Swings the legs and turns the torso. */
const swing = (data: MujocoData): void => {
  data.qvel[3] = 2
  data.qvel[6] = 6
  data.qvel[7] = -5
}

const stride = (step: number, { ctrl }: MujocoData): void => {
  ctrl[0] = 0.5 * Math.sin(step * 0.02)
  ctrl[1] = -0.5 * Math.sin(step * 0.02)
}

const faller: MujocoScene = {
  bodies: walker(1.5),
  steps: 300,
  act: (step, data) => (step === 1 ? swing(data) : undefined),
}
const walking: MujocoScene = {
  bodies: walker(0.505, 0.2),
  rest: hipServos,
  dt: 0.002,
  steps: 600,
  act: stride,
}

/** A capsule on a hinge at one end. `rest` contains the bodies that hang from it. */
const pendulum = (rest: string, at = '0 0 2'): string =>
  `<body pos="${at}"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.15" pos="0.2 0 0" euler="0 90 0" mass="1"/>${rest}</body>`

const scenes: Readonly<Record<string, MujocoScene>> = {
  'a pendulum that turns by 0.1 rad per step': {
    bodies: pendulum(''),
    steps: 100,
    act: (step, { qvel }) => (step === 1 ? qvel.fill(20, 0, 1) : undefined),
  },
  'a double pendulum that turns by 0.15 rad per step': {
    bodies: pendulum(pendulum('', '0.4 0 0')),
    steps: 100,
    act: (step, { qvel }) => (step === 1 ? qvel.fill(30, 1, 2) : undefined),
  },
  'a pendulum on the wall': {
    bodies:
      '<body pos="0 0 1.5"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.2" pos="0.2 0 0" euler="0 90 0" mass="1"/></body>',
    dt: 0.002,
    steps: 300,
  },
  'a faller with hinged legs': faller,
  'a faller with damped hinges': { ...faller, bodies: walker(1.5, 0.2) },
  'a faller whose joint reactions are not known': {
    ...faller,
    bodies: walker(1.5, 0.2),
    option: 'integrator="implicitfast"',
  },
  'a walker that servos drive': walking,
}

for (const [title, scene] of sample(Object.entries(scenes), 5))
  verifies('replay:laws:joints', `diagnose finds nothing in ${title}`, async (t) => {
    const { client, folder } = await openReplay(t, [])
    simulateMujoco(join(folder, 'run.mcap'), scene)
    const { findings, checked, not_checked } = await client().call('diagnose', { recording: 'run' })
    t.same(findings, [])
    t.ok((checked as string[]).includes('free_motion'))
    const isAlone = !toRows(not_checked).some(({ missing }) =>
      (missing as string[]).includes('joint reactions'),
    )
    t.equal(isAlone, scene.option === undefined, 'bodies are also checked alone if the reactions are known')
  })

const kicks: Readonly<Record<string, MujocoScene & { readonly kick: number }>> = {
  'a faller': { ...faller, dt: 0.002, kick: 120 },
  'a faller whose joint reactions are not known': {
    ...faller,
    dt: 0.002,
    bodies: walker(1.5, 0.2),
    option: 'integrator="implicitfast"',
    kick: 20,
  },
  'a walker': { ...walking, steps: 420, kick: 400 },
}

for (const [title, { kick, act, ...scene }] of sample(Object.entries(kicks), 3))
  verifies(
    'replay:laws:joints',
    `diagnose finds a kick of 1 % in a leg of ${title} at its frame`,
    async (t) => {
      const { client, folder } = await openReplay(t, [])
      simulateMujoco(join(folder, 'run.mcap'), {
        ...scene,
        steps: Math.min(scene.steps, kick + 20),
        act(step, data) {
          act?.(step, data)
          if (step === kick) data.qvel[6] = (data.qvel[6] ?? 0) * 1.01
        },
      })
      const { findings } = await client().call('diagnose', { recording: 'run' })
      const rows = toRows(findings)
      t.ok(rows.length > 0)
      for (const { frames, bodies } of rows) {
        t.match(frames, { first: kick, last: kick })
        t.ok((bodies as number[]).includes(2), 'the leg, alone or with its group')
      }
    },
  )

verifies('replay:laws:joints', 'laws of momentum are not checked if substeps lack contacts', async (t) => {
  const { client, folder } = await openReplay(t, [])
  simulateMujoco(join(folder, 'run.mcap'), { ...faller, option: 'integrator="RK4"' })
  const { findings, checked, not_checked } = await client().call('diagnose', { recording: 'run' })
  t.same(findings, [])
  // Not checked, because the bodies touch only the floor.
  t.notOk((checked as string[]).includes('reaction'))
  for (const law of ['free_motion', 'contact_momentum', 'angular_momentum']) {
    t.notOk((checked as string[]).includes(law), law)
    t.match(
      toRows(not_checked).find((one) => one.law === law),
      { missing: ['contacts of every substep'] },
    )
  }
})

const [g, dt] = [9.81, 0.01]

/** Two bodies that fall next to each other, 1 m apart. From frame 51 on, the second one moves away at `pull` m/s. */
function fall(pull: number, joint: (frame: number) => object): readonly object[] {
  const bodies = [1, 2].map((id) => ({ id, mass: 1, group: 1, inertia: [0.1, 0.1, 0.1] }))
  const lines = Array.from({ length: 100 }, (_, row) => {
    const frame = row + 1
    const away = Math.max(0, frame - 50) * pull * dt
    return {
      frame_id: frame,
      time: frame * dt,
      bodies: [0, 1].map((x) => ({
        id: x + 1,
        position: [x + x * away, 0, (-g * dt * dt * frame * (frame + 1)) / 2],
        velocity: [frame > 50 ? x * pull : 0, 0, -g * dt * frame],
        orientation: [1, 0, 0, 0],
        angular_velocity: [0, 0, 0],
      })),
      contacts: [],
      joints: [{ a: 1, b: 2, kind: 'fixed', ...joint(frame) }],
    }
  })
  return [{ run: { dt, gravity: [0, 0, -g], lambda_unit: 'N·s', bodies } }, ...lines]
}

/** Returns the point halfway between the bodies before the step. */
const middle = (frame: number): readonly number[] => [0.5, 0, (-g * dt * dt * frame * (frame - 1)) / 2]

verifies(
  'replay:laws:joints',
  'joint_error reports joint ends that drift apart, from recorded errors and from the motion',
  async (t) => {
    const idle = { impulse: [0, 0, 0], torque: [0, 0, 0] }
    const measured = await recordLines(
      t,
      fall(0.11, (frame) => ({ ...idle, point: middle(frame) })),
    )
    const drift = toRows((await measured.call('diagnose', {})).findings).find(
      ({ kind }) => kind === 'joint_drift',
    )
    // The distance grows by 1.1 mm per frame from frame 51 on, and exceeds 1 cm in the tenth of these frames.
    t.match(drift, { frames: { first: 60, last: 100 }, pair: [1, 2], unit: 'm' })
    t.match(await measured.call('check_law', { law: 'joints' }), { count: 1 })
    const recorded = await recordLines(
      t,
      fall(0, (frame) => ({ ...idle, position_error: frame > 30 ? 0.02 : 0.001 })),
    )
    t.match((await recorded.call('diagnose', {})).findings, [
      { kind: 'joint_drift', frames: { first: 31 }, value: 0.02, limit: 0.01 },
    ])
    const unknown = await recordLines(
      t,
      fall(0, () => idle),
    )
    const answer = await unknown.call('diagnose', {})
    t.same(answer.findings, [])
    t.match(
      toRows(answer.not_checked).find(({ law }) => law === 'joint_error'),
      { missing: ['joint errors'], how_to_record: 'send joints[].position_error, or kind and point' },
    )
  },
)

verifies('replay:laws:joints', 'get_frame returns the joints of a frame', async (t) => {
  const client = await recordLines(
    t,
    fall(0, () => ({ impulse: [1, 2, 3] })),
  )
  t.match(await client.call('get_frame', { frame_id: 7 }), {
    joints: [{ body_a_id: 1, body_b_id: 2, kind: 'fixed', impulse: { x: 1, y: 2, z: 3 } }],
    counts: { joints: 1 },
  })
})

verifies('replay:explain', 'explain_frame subtracts the reactions of joints', async (t) => {
  // Body 2 moves away at 1 m/s from frame 51 on, because a joint pulls it with 1 N·s.
  const pulled = await recordLines(
    t,
    fall(1, (frame) => ({ impulse: [frame === 51 ? -1 : 0, 0, 0] })),
  )
  const { balances } = await pulled.call('explain_frame', { frame_id: 51 })
  t.match(balances, [{ joint_n: { x: -1 / dt } }, { joint_n: { x: 1 / dt }, unexplained_n: 0 }])
  t.equal(toRows(balances)[0]?.unexplained_n, 1 / dt, 'body 1 does not move')
  for (const joint of [{}, { impulse: [1, 0, null] }]) {
    const unknown = await recordLines(
      t,
      fall(1, () => joint),
    )
    const story = await unknown.call('explain_frame', { frame_id: 51 })
    t.match(story.balances, [{ joint_n: null, unexplained_n: null }, { unexplained_n: null }])
    t.notMatch(story.summary, /unexplained/)
  }
})

verifies(
  'replay:explain',
  'explain_frame does not return a balance if joints or substeps were not recorded',
  async (t) => {
    const lines = fall(1, () => ({})).map((line) => ({ ...line, joints: undefined }))
    const client = await recordLines(t, lines)
    const { balances } = await client.call('explain_frame', { frame_id: 51 })
    t.match(balances, [
      { joint_n: null, unexplained_n: null },
      { joint_n: null, unexplained_n: null },
    ])
    const [run, ...frames] = fall(1, () => ({ impulse: [0, 0, 0] }))
    const substeps = { run: { ...(run as { run: object }).run, substeps: 4 } }
    const part = await recordLines(t, [substeps, ...frames])
    t.match((await part.call('explain_frame', { frame_id: 51 })).balances, [
      { unexplained_n: null },
      { joint_n: { x: 0 }, unexplained_n: null },
    ])
  },
)

verifies(
  'replay:engines',
  'a plane is not inferred from a body that rests against the side of a box',
  async (t) => {
    const shape = { shape: { kind: 'box' }, half_extents: [0.1, 0.1, 0.1] }
    const bodies = [
      { id: 1, mass: 1, ...shape },
      { id: 2, mass: 1, ...shape },
      { id: 3, is_environment: true, position: [0.2, 0, 0], orientation: [1, 0, 0, 0], ...shape },
    ]
    const frames = Array.from({ length: 30 }, (_, row) => ({
      frame_id: row + 1,
      time: (row + 1) * dt,
      bodies: [
        { id: 1, position: [0, 0, 0], velocity: [0, 0, 0] },
        { id: 2, position: [-1 + 0.1 * row, 0, -2], velocity: [0.1 / dt, 0, 0] },
      ],
      contacts: [{ a: 1, b: 3, normal: [1, 0, 0], points: [{ point: [0.1, 0, 0], normal_lambda: 0 }] }],
    }))
    const client = await recordLines(t, [
      { run: { dt, gravity: [0, 0, 0], lambda_unit: 'N·s', bodies } },
      ...frames,
    ])
    const { findings, checked } = await client.call('diagnose', {})
    t.same(findings, [])
    t.ok((checked as string[]).includes('tunnelling'))
  },
)
