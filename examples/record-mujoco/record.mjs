/** Records a box that slides on a floor in MuJoCo, while it is simulated. Usage: node record.mjs [server] [name] */
import load from 'mujoco-js'

const [server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100', name = 'mujoco-box'] =
  process.argv.slice(2)
const [dt, mass, half] = [0.01, 2, 0.25]
const mujoco = await load()
mujoco.FS.writeFile(
  '/box.xml',
  `<mujoco><option timestep="${dt}" cone="elliptic" impratio="10"/><worldbody>
     <geom type="plane" size="9 9 1" friction="0.3"/>
     <body pos="0 0 ${half}"><freejoint/><geom type="box" size="${half} ${half} ${half}" mass="${mass}" friction="0.3"/></body>
   </worldbody></mujoco>`,
)
const model = mujoco.MjModel.loadFromXML('/box.xml')
const data = new mujoco.MjData(model)
data.qvel.set([2, 0, 0])

/** Contacts of the step: MuJoCo's normal points from the floor, its first geom, to the box. */
function contacts() {
  const force = new mujoco.DoubleBuffer(6)
  const points = []
  for (let i = 0; i < data.ncon; i++) {
    const contact = data.contact.get(i)
    mujoco.mj_contactForce(model, data, i, force)
    const [normal, t1, t2] = force.GetView()
    points.push({
      point: [...contact.pos],
      depth: -contact.dist,
      friction_coefficient: contact.friction[0],
      tangent1: [...contact.frame.slice(3, 6)],
      tangent2: [...contact.frame.slice(6, 9)],
      normal_lambda: normal * dt,
      tangent1_lambda: t1 * dt,
      tangent2_lambda: t2 * dt,
    })
    contact.delete()
  }
  force.delete()
  return points.length === 0 ? [] : [{ a: 1, b: 2, normal: [0, 0, -1], points }]
}

async function* lines() {
  const inertia = Array(3).fill((2 / 3) * mass * half ** 2)
  const box = { id: 1, mass, friction: 0.3, inertia, half_extents: [half, half, half] }
  const bodies = [box, { id: 2, is_environment: true }]
  yield { run: { engine: 'MuJoCo', dt, gravity: [0, 0, -9.81], lambda_unit: 'N·s', bodies } }
  for (let frame_id = 1; frame_id <= 100; frame_id++) {
    mujoco.mj_step(model, data)
    const [position, orientation] = [data.qpos.slice(0, 3), data.qpos.slice(3, 7)].map((v) => [...v])
    const [velocity, angular_velocity] = [data.qvel.slice(0, 3), data.qvel.slice(3, 6)].map((v) => [...v])
    const body = { id: 1, position, velocity, orientation, angular_velocity }
    const iterations = data.solver_niter[0]
    const solver = { iterations, converged: iterations < model.opt.iterations }
    yield { frame_id, time: frame_id * dt, bodies: [body], contacts: contacts(), solver }
  }
}

/** One body that streams: it waits where the server is slower than the simulation. */
const route = `${server}/api/apps/replay/recordings/${name}`
const body = ReadableStream.from(lines()).pipeThrough(
  new TransformStream({
    transform: (line, to) => to.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`)),
  }),
)
const answer = await fetch(`${route}/frames`, { method: 'POST', body, duplex: 'half' })
process.stdout.write(`${JSON.stringify(await answer.json())}\n`)
await fetch(`${route}/finish`, { method: 'POST' })
