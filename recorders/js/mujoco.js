// cspell:ignore jntadr qposadr dofadr nbody jntnum geomadr geomnum bodyid -- names of MuJoCo
/** Records MuJoCo (WebAssembly) simulations. Tested with mujoco-js. */
import { Recorder } from './recorder.js'

const geomKinds = { 0: 'plane', 2: 'sphere', 3: 'capsule', 6: 'box' }

/**
 * Returns a recorder of a simulation. Call `step()` after every `mj_step`, and `close()` at the end. Records every body: those with a
 * free joint as moving bodies, those fixed to the world as environment. Throws `TypeError` if a body has other joints.
 *
 * @param {object} mujoco the module
 * @param {object} model MjModel
 * @param {object} data MjData
 * @param {(bytes: Uint8Array) => void} write
 */
export function recordMujoco(mujoco, model, data, write) {
  const dt = model.opt.timestep
  const bodies = listBodies(model)
  const moving = bodies.filter(({ is_environment }) => !is_environment)
  const recorder = new Recorder(write, {
    engine: 'MuJoCo',
    dt,
    gravity: [...model.opt.gravity],
    lambda_unit: 'N·s',
    bodies,
  })
  return {
    /** Records the state after a step. Contacts belong to the pose before it, as the format requires. */
    step() {
      const columns = { position: [], velocity: [], orientation: [], angular_velocity: [] }
      for (const { id } of moving) {
        const joint = model.body_jntadr[id]
        const [q, v] = [model.jnt_qposadr[joint], model.jnt_dofadr[joint]]
        columns.position.push(...data.qpos.slice(q, q + 3))
        columns.orientation.push(...data.qpos.slice(q + 3, q + 7))
        columns.velocity.push(...data.qvel.slice(v, v + 3))
        columns.angular_velocity.push(...data.qvel.slice(v + 3, v + 6))
      }
      const iterations = data.solver_niter[0]
      recorder.frame({
        ...columns,
        time: data.time,
        contacts: listContacts(mujoco, model, data, dt),
        solver_iterations: iterations,
        solver_converged: iterations < model.opt.iterations,
      })
    },
    close: () => recorder.close(),
  }
}

function listBodies(model) {
  return Array.from({ length: model.nbody }, (_, id) => {
    const joints = model.body_jntnum[id]
    const joint = model.body_jntadr[id]
    const isFree = joints === 1 && model.jnt_type[joint] === 0
    if (joints > 0 && !isFree)
      throw new TypeError(
        `body ${id} has a joint that is not free; articulated bodies cannot be recorded yet`,
      )
    const pose = {
      position: [...model.body_pos.slice(3 * id, 3 * id + 3)],
      orientation: [...model.body_quat.slice(4 * id, 4 * id + 4)],
    }
    return {
      id,
      is_environment: joints === 0,
      ...(joints === 0
        ? pose
        : { mass: model.body_mass[id], inertia: [...model.body_inertia.slice(3 * id, 3 * id + 3)] }),
      ...describeShape(model, id),
    }
  })
}

/** The shape of a body with one geom at its centre. */
function describeShape(model, id) {
  const geom = model.body_geomadr[id]
  if (model.body_geomnum[id] !== 1) return {}
  if ([0, 1, 2].some((k) => model.geom_pos[3 * geom + k] !== 0)) return {}
  const kind = geomKinds[model.geom_type[geom]]
  const [x, y, z] = model.geom_size.slice(3 * geom, 3 * geom + 3)
  const friction = { friction: model.geom_friction[3 * geom] }
  if (kind === 'box') return { shape: { kind }, half_extents: [x, y, z], ...friction }
  if (kind === 'sphere') return { shape: { kind, radius: x }, ...friction }
  if (kind === 'capsule') return { shape: { kind, radius: x, half_length: y }, ...friction }
  return kind === 'plane' ? { shape: { kind }, ...friction } : friction
}

/** MuJoCo's normal points from the first geom to the second, and its force acts on the second. */
function listContacts(mujoco, model, data, dt) {
  const force = new mujoco.DoubleBuffer(6)
  const contacts = []
  for (let i = 0; i < data.ncon; i++) {
    const contact = data.contact.get(i)
    mujoco.mj_contactForce(model, data, i, force)
    const [normal, t1, t2] = force.GetView()
    const frame = [...contact.frame]
    contacts.push({
      a: model.geom_bodyid[contact.geom1],
      b: model.geom_bodyid[contact.geom2],
      point: [...contact.pos],
      depth: -contact.dist,
      normal: frame.slice(0, 3),
      friction: contact.friction[0],
      tangent1: frame.slice(3, 6),
      tangent2: frame.slice(6, 9),
      normal_impulse: normal * dt,
      tangent1_impulse: -t1 * dt,
      tangent2_impulse: -t2 * dt,
    })
    contact.delete()
  }
  force.delete()
  return contacts
}
