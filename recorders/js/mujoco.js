// cspell:ignore jntadr qposadr dofadr nbody jntnum geomadr geomnum bodyid rootid weldid parentid xanchor xipos ximat xpos xquat cvel -- names of MuJoCo
// cspell:ignore bodyadr iquat xfrc neq subtree -- names of MuJoCo
/** Records MuJoCo (WebAssembly) simulations. Tested with mujoco-js. */
import { listGroups, listJoints, measureReactions } from './mujoco-joints.js'
import { Recorder } from './recorder.js'
import { add, cross, multiplyQuaternions, take } from './vectors.js'

const geomKinds = { 0: 'plane', 2: 'sphere', 3: 'capsule', 6: 'box' }
const rungeKutta = 1

/**
 * Returns a recorder of a simulation. Call `step()` after every `mj_step`, and `close()` at the end. It records every body: those fixed to
 * the world as environment, those of a tree with joints as a group. `step()` also brings the poses in `data` up to date with `qpos`.
 *
 * @param {object} mujoco the module
 * @param {object} model MjModel
 * @param {object} data MjData
 * @param {(bytes: Uint8Array) => void} write
 * @param {object} [constants] further constants, such as `scenario` or `seed`; and `describeBody`: returns further members of the body with
 *   an id of the model
 */
export function recordMujoco(mujoco, model, data, write, { describeBody = () => ({}), ...constants } = {}) {
  const dt = model.opt.timestep
  const bodies = listBodies(model, data).map((body) => ({ ...body, ...describeBody(body.id) }))
  const moving = bodies.filter(({ is_environment }) => !is_environment).map(({ id }) => id)
  const recorder = new Recorder(write, {
    engine: 'MuJoCo',
    engine_version: mujoco.mj_versionString?.(),
    dt,
    gravity: [...model.opt.gravity],
    lambda_unit: 'N·s',
    bodies,
    // Contacts are those of the last stage of the integrator.
    ...(model.opt.integrator === rungeKutta && { substeps: 4 }),
    ...constants,
  })
  return {
    /** Records the state after a step. Contacts and joints belong to the pose before it, as the format requires. */
    step() {
      const contacts = listContacts(mujoco, model, data, dt)
      const joints = listJoints(model, data, moving, measureReactions(mujoco, model, data, dt))
      const forces = listForces(data, moving)
      mujoco.mj_kinematics(model, data)
      mujoco.mj_comPos(model, data)
      mujoco.mj_comVel(model, data)
      const iterations = data.solver_niter[0]
      recorder.frame({
        ...readStates(model, data, moving),
        ...forces,
        time: data.time,
        contacts,
        joints,
        solver_iterations: iterations,
        solver_converged: iterations < model.opt.iterations,
      })
    },
    close: () => recorder.close(),
  }
}

/** Centres of mass and principal axes. `cvel` is the velocity at the centre of mass of the tree. */
function readStates(model, data, moving) {
  const columns = { position: [], velocity: [], orientation: [], angular_velocity_world: [] }
  for (const id of moving) {
    const spin = take(data.cvel, 2 * id)
    const place = take(data.xipos, id)
    const arm = add(place, take(data.subtree_com, model.body_rootid[id]), -1)
    columns.position.push(...place)
    columns.velocity.push(...add(take(data.cvel, 2 * id + 1), cross(spin, arm)))
    columns.orientation.push(...multiplyQuaternions(take(data.xquat, id, 4), take(model.body_iquat, id, 4)))
    columns.angular_velocity_world.push(...spin)
  }
  return columns
}

/** Forces that the user applies to bodies. */
function listForces(data, moving) {
  const pushed = moving.filter((id) =>
    data.xfrc_applied.subarray(6 * id, 6 * id + 6).some((part) => part !== 0),
  )
  if (pushed.length === 0) return {}
  return {
    force_body: pushed,
    force: pushed.flatMap((id) => take(data.xfrc_applied, 2 * id)),
    torque: pushed.flatMap((id) => take(data.xfrc_applied, 2 * id + 1)),
    force_at: pushed.flatMap((id) => take(data.xipos, id)),
  }
}

function listBodies(model, data) {
  const isFixed = (id) => model.body_weldid[id] === 0
  const ids = Array.from({ length: model.nbody }, (_, id) => id)
  const groups = listGroups(model)
  const ignored = listIgnored(model, groups)
  return ids.map((id) => {
    const ignores = ignored[id].length === 0 ? {} : { ignores: ignored[id] }
    const joint = model.body_jntadr[id]
    const isSingle =
      model.body_jntnum[id] === 1 &&
      model.jnt_type[joint] === 0 &&
      ids.every((other) => groups[other] !== groups[id] || other === id)
    if (isFixed(id))
      return {
        id,
        ...readName(model, id),
        is_environment: true,
        position: take(data.xpos, id),
        orientation: take(data.xquat, id, 4),
        ...describeShape(model, id),
        ...ignores,
      }
    return {
      id,
      ...readName(model, id),
      mass: model.body_mass[id],
      inertia: take(model.body_inertia, id),
      ...(isSingle ? {} : { group: groups[id] }),
      ...describeShape(model, id),
      ...ignores,
    }
  })
}

/**
 * Returns the later bodies with which each body makes no contacts, because of `exclude`, or of `contype` and `conaffinity` of all their
 * geoms. A `pair` of geoms makes contacts nevertheless.
 */
function listIgnored(model, groups) {
  const [types, affinities] = [new Int32Array(model.nbody), new Int32Array(model.nbody)]
  for (const [geom, id] of model.geom_bodyid.entries()) {
    types[id] |= model.geom_contype[geom]
    affinities[id] |= model.geom_conaffinity[geom]
  }
  const pairs = new Set()
  for (let i = 0; i < model.npair; i++)
    pairs.add(toKey(model.geom_bodyid[model.pair_geom1[i]], model.geom_bodyid[model.pair_geom2[i]]))
  const excluded = new Set()
  // A signature is the first body in the upper 16 bits, and the second.
  for (let i = 0; i < model.nexclude; i++) {
    const signature = model.exclude_signature[i]
    excluded.add(toKey(signature >>> 16, signature & 0xffff))
  }
  const isFixed = (id) => model.body_weldid[id] === 0
  return Array.from({ length: model.nbody }, (_, a) => {
    const others = []
    for (let b = a + 1; b < model.nbody; b++) {
      if (model.body_geomnum[a] === 0 || model.body_geomnum[b] === 0 || pairs.has(toKey(a, b))) continue
      // Replay allows overlaps within a group of moving bodies.
      if (isFixed(a) ? isFixed(b) : !isFixed(b) && groups[a] === groups[b]) continue
      const isMasked = (types[a] & affinities[b]) === 0 && (types[b] & affinities[a]) === 0
      if (isMasked || excluded.has(toKey(a, b))) others.push(b)
    }
    return others
  })
}

const toKey = (a, b) => `${Math.min(a, b)} ${Math.max(a, b)}`

/** `mj_id2name` of mujoco-js returns garbage for a body without a name. */
function readName(model, id) {
  const start = model.name_bodyadr[id]
  const codes = [...model.names.slice(start, model.names.indexOf(0, start))]
  return codes.length === 0 ? {} : { name: String.fromCharCode(...codes) }
}

/** The shape of a body with one geom at the origin of its recorded pose. */
function describeShape(model, id) {
  const geom = model.body_geomadr[id]
  if (model.body_geomnum[id] !== 1) return {}
  const origin = model.body_weldid[id] === 0 ? [0, 0, 0] : take(model.body_ipos, id)
  const axes = model.body_weldid[id] === 0 ? [1, 0, 0, 0] : take(model.body_iquat, id, 4)
  const isNear = (a, b) => a.every((part, k) => Math.abs(part - b[k]) < 1e-9)
  if (!isNear(take(model.geom_pos, geom), origin) || !isNear(take(model.geom_quat, geom, 4), axes)) return {}
  const kind = geomKinds[model.geom_type[geom]]
  const [x, y, z] = take(model.geom_size, geom)
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
