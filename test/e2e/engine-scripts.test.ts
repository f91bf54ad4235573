/** Lines of the form that the recorders of Unity and Godot write, posted to a server. The scripts themselves do not run here. */
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { postJson } from './http.ts'
import { startServer } from './server-process.ts'

t.setTimeout(120_000)

const steps = 80
const dt = 0.02
const gravity = -9.81
const recorders = new URL('../../recorders/', import.meta.url)

type Vector = readonly [number, number, number]
type Line = Readonly<Record<string, unknown>>

interface Engine {
  /** Files of the recorder, and how they write the name of a member. */
  readonly files: readonly string[]
  readonly members: RegExp
  readonly convention: Line
  /** Quaternions of float32 are not normalized in every step. */
  readonly drift: number
  /** Velocity after a step of damping d. */
  damp(velocity: number, change: number, d: number): number
  /** Force of damping d, divided by the mass. */
  drag(velocity: number, change: number, d: number): number
  /** A number as the script writes it. */
  number(value: number): number
  readonly hasImpulses: boolean
  readonly hasSurfaceVelocities: boolean
}

const engines: Readonly<Record<string, Engine>> = {
  Unity: {
    files: ['unity/CausewayRecorder.cs'],
    members: /\\"(\w+)\\":/g,
    convention: { up: 'y', handedness: 'left', quaternion: 'xyzw', normal: 'b_to_a' },
    drift: 1 + 1e-5,
    damp: (velocity, change, d) => (velocity + change) * (1 - d * dt),
    drag: (velocity, change, d) => -d * (velocity + change),
    number: (value) => Number(Math.fround(value).toPrecision(9)),
    hasImpulses: true,
    hasSurfaceVelocities: false,
  },
  Godot: {
    files: ['godot/causeway_recorder.gd'],
    members: /"(\w+)"(?:: |\] = )/g,
    convention: { up: 'y', quaternion: 'xyzw', normal: 'b_to_a' },
    drift: 1 - 1e-5,
    damp: (velocity, change, d) => velocity * (1 - d * dt) + change,
    drag: (velocity, _change, d) => -d * velocity,
    number: Math.fround,
    hasImpulses: false,
    hasSurfaceVelocities: true,
  },
}

/** Records a box that rests on the floor, and a ball that flies and turns with damping. */
function createLines(engine: Engine, kickAt: number): readonly Line[] {
  const { number } = engine
  const vector = (v: Vector) => v.map(number)
  const turned = (angle: number) => [0, Math.sin(angle / 2), 0, Math.cos(angle / 2)]
  const bodies = [
    {
      ...{ id: 1, name: 'Box', mass: 2, inertia: vector([1 / 3, 1 / 3, 1 / 3]) },
      ...{ half_extents: [0.5, 0.5, 0.5], shape: { kind: 'box' } },
    },
    {
      id: 2,
      name: 'Ball',
      mass: 1,
      inertia: [0.1, 0.1, 0.1].map(number),
      shape: { kind: 'sphere', radius: 0.5 },
    },
    {
      ...{ id: 3, name: 'Floor', is_environment: true, position: [0, -0.5, 0], orientation: [0, 0, 0, 1] },
      ...{ half_extents: [10, 0.5, 10], shape: { kind: 'box' } },
    },
    {
      ...{ id: 5, name: 'Belt', is_environment: true, position: [20, -0.5, 0], orientation: [0, 0, 0, 1] },
      ...{ half_extents: [2, 0.5, 2], shape: { kind: 'box' } },
      ...(engine.hasSurfaceVelocities ? { surface_velocity: [1, 0, 0] } : {}),
    },
  ]
  const run = { engine: 'test', dt: number(dt), gravity: [0, number(gravity), 0], lambda_unit: 'N·s' }
  const lines: Line[] = [{ run: { ...run, scenario: 'Stack', convention: engine.convention, bodies } }]
  const late = {
    id: 4,
    name: 'Platform',
    group: 7,
    shape: { kind: 'capsule', radius: 0.25, half_length: 0.5 },
  }
  let [position, velocity, angle, spin]: [Vector, Vector, number, number] = [[3, 20, 1], [1, 0, 2], 0, 2]
  for (let frame = 1; frame <= steps; frame++) {
    const before = position
    const push = frame > 20 && frame <= 30 ? 5 : 0
    const change: Vector = [0, (gravity + push) * dt, 0]
    const drag = velocity.map((v, i) => engine.drag(v, change[i] ?? 0, 0.1)) as unknown as Vector
    const moved = velocity.map((v, i) => engine.damp(v, change[i] ?? 0, 0.1)) as unknown as Vector
    velocity = frame === kickAt ? [moved[0] + 0.5, moved[1], moved[2]] : moved
    position = before.map((x, i) => x + (velocity[i] ?? 0) * dt) as unknown as Vector
    const torque = -0.1 * 0.05 * spin
    spin *= 1 - 0.05 * dt
    angle += spin * dt
    if (frame === 10) lines.push({ run: { bodies: [late] } })
    const orientation = turned(angle).map((part) => number((frame % 8 === 0 ? 1 : engine.drift) * part))
    const rest = { velocity: [0, 0, 0], orientation: [0, 0, 0, 1], angular_velocity_world: [0, 0, 0] }
    const force = vector([drag[0], drag[1] + push, drag[2]])
    const ball = {
      ...{ id: 2, position: vector(position), velocity: vector(velocity), orientation },
      angular_velocity_world: vector([0, spin, 0]),
      forces: [{ force, torque: vector([0, torque, 0]), at: vector(before) }],
    }
    const states = [{ id: 1, position: [0, 0.5, 0], ...rest }, ball]
    const points = [0, 1, 2, 3].map((i) => ({
      point: [(i % 2) - 0.5, 0, Math.floor(i / 2) - 0.5],
      depth: number(0.0005),
      ...(engine.hasImpulses ? { normal_lambda: number((-2 * gravity * dt) / 4) } : {}),
    }))
    lines.push({
      ...{ frame_id: frame, time: frame * dt },
      bodies:
        frame < 10
          ? states
          : [...states, { id: 4, position: [-5, 2, frame * dt], ...rest, velocity: [0, 0, 1] }],
      contacts: [{ a: 1, b: 3, normal: [0, 1, 0], points }],
    })
  }
  return lines
}

/** Adds the names of all members of a value. */
function collectMembers(value: unknown, names: Set<string>): Set<string> {
  if (typeof value !== 'object' || value === null) return names
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(name)
    collectMembers(member, names)
  }
  return names
}

async function record(t: Test, url: string, name: string, lines: readonly Line[]) {
  const route = `${url}/api/apps/replay/recordings/${name}`
  const texts = lines.map((line) => `${JSON.stringify(line)}\n`)
  for (const batch of [texts.slice(0, 40), texts.slice(40)]) {
    const headers = { 'content-type': 'application/x-ndjson' }
    const response = await fetch(`${route}/frames`, { method: 'POST', headers, body: batch.join('') })
    t.equal(response.status, 200, await response.text())
  }
  t.match((await postJson(route, '/finish', {})).json, { status: 'finished', total_frames: steps })
  return (await postJson(url, '/api/apps/replay/tools/diagnose', { recording: name })).json
}

for (const [name, engine] of Object.entries(engines))
  t.test(
    `the server finds nothing in a run in the form of the ${name} recorder, and a kick at its frame`,
    async (t) => {
      const { url } = await startServer(t, { dir: t.testdir() })
      const lines = createLines(engine, 0)
      const { findings, checked } = await record(t, url, 'clean', lines)
      t.same(findings, [])
      const laws = [
        'unit_quaternion',
        'free_motion',
        'angular_momentum',
        'spin_matches_rotation',
        'environment_overlap',
      ]
      for (const law of [...laws, ...(engine.hasImpulses ? ['contact_momentum'] : [])])
        t.ok(checked.includes(law), `${law} is checked`)
      const kicked = await record(t, url, 'kicked', createLines(engine, 60))
      t.match(kicked.findings, [{ frames: { first: 60, last: 60 }, bodies: [2] }])
      const frame = { recording: 'clean', frame_id: steps }
      const { states } = (await postJson(url, '/api/apps/replay/tools/get_frame', frame)).json
      const last = lines.at(-1)?.bodies as readonly { readonly position: Vector }[]
      const height = states.find(({ body_id }: { body_id: number }) => body_id === 2).position.z
      t.equal(height, last[1]?.position[1], 'the height is z')
    },
  )

for (const [name, { files, members }] of Object.entries(engines))
  t.test(`the ${name} recorder writes the members of these lines, and no others`, async (t) => {
    const source = files.map((file) => readFileSync(new URL(file, recorders), 'utf8')).join('\n')
    const written = new Set([...source.matchAll(members)].map(([, member]) => member))
    const engine = engines[name] as Engine
    const sample = collectMembers(createLines({ ...engine, hasImpulses: true }, 0), new Set())
    t.same([...written].sort(), [...sample].sort())
  })
