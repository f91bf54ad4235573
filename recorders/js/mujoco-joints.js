// cspell:ignore cfrc xanchor jntadr jntnum parentid rootid weldid qacc eulerdamp fullM neq xpos subtree qvel -- names of MuJoCo
/** Reactions of the joints of MuJoCo. */
import { add, cross, take } from './vectors.js'

/** By mjtJoint: free, ball, slide, hinge. */
const jointKinds = ['other', 'ball', 'slider', 'hinge']
const equalityKinds = { 0: 'ball', 1: 'fixed' }
const euler = 0
/** By mjtConstraint. */
const equality = 0

/**
 * Returns the force of each body's parent on it, [torque, force] about the centre of mass of the tree, N·m and N; null if the integrator
 * applies forces that MuJoCo does not report. Call it after `mj_step`, before other functions change `data`.
 *
 * `mj_rnePostConstraint` computes them from `qacc` and `qvel`. `mj_step` has advanced `qvel` by then, and with damping the semi-implicit
 * Euler integrator used (M + dt D)⁻¹ M qacc: both are set to what the step used, and restored.
 */
export function measureReactions(mujoco, model, data, dt) {
  const isDamped = model.dof_damping.some((damping) => damping > 0)
  if (model.opt.integrator !== euler && (isDamped || model.nu > 0)) return null
  const [acceleration, velocity] = [Float64Array.from(data.qacc), Float64Array.from(data.qvel)]
  const used = isDamped ? dampAcceleration(mujoco, model, data, dt) : acceleration
  data.qacc.set(used)
  data.qvel.set(velocity.map((speed, dof) => speed - dt * used[dof]))
  mujoco.mj_rnePostConstraint(model, data)
  const reactions = Float64Array.from(data.cfrc_int)
  data.qacc.set(acceleration)
  data.qvel.set(velocity)
  return reactions
}

/** Solves (M + dt D) x = M qacc by elimination. */
function dampAcceleration(mujoco, model, data, dt) {
  const n = model.nv
  const full = new mujoco.DoubleBuffer(n * n)
  mujoco.mj_fullM(model, full, data.qM)
  const matrix = Float64Array.from(full.GetView())
  full.delete()
  const x = Float64Array.from({ length: n }, (_, row) =>
    data.qacc.reduce((sum, part, column) => sum + matrix[row * n + column] * part, 0),
  )
  for (let i = 0; i < n; i++) matrix[i * n + i] += dt * model.dof_damping[i]
  for (let column = 0; column < n; column++)
    for (let row = column + 1; row < n; row++) {
      const factor = matrix[row * n + column] / matrix[column * n + column]
      if (factor === 0) continue
      for (let k = column; k < n; k++) matrix[row * n + k] -= factor * matrix[column * n + k]
      x[row] -= factor * x[column]
    }
  for (let row = n - 1; row >= 0; row--) {
    for (let k = row + 1; k < n; k++) x[row] -= matrix[row * n + k] * x[k]
    x[row] /= matrix[row * n + row]
  }
  return x
}

/** Lists the joints of the moving bodies, and the equality constraints, whose forces are not known. */
export function listJoints(model, data, moving, reactions) {
  const dt = model.opt.timestep
  const joints = moving.flatMap((id) => {
    const [count, first] = [model.body_jntnum[id], model.body_jntadr[id]]
    if (count > 0 && model.jnt_type[first] === 0) return []
    const kind = count === 0 ? 'fixed' : count === 1 ? jointKinds[model.jnt_type[first]] : 'other'
    const point = count === 0 ? take(data.xpos, id) : take(data.xanchor, first)
    const joint = { a: id, b: model.body_parentid[id], kind, point }
    if (reactions === null) return [joint]
    const force = take(reactions, 2 * id + 1)
    const arm = add(take(data.subtree_com, model.body_rootid[id]), point, -1)
    const torque = add(take(reactions, 2 * id), cross(arm, force))
    return [{ ...joint, impulse: force.map((part) => part * dt), torque: torque.map((part) => part * dt) }]
  })
  for (let i = 0; i < model.neq; i++) {
    const kind = equalityKinds[model.eq_type[i]]
    if (kind === undefined || !data.eq_active[i]) continue
    const position_error = measureError(data, i)
    joints.push({ a: model.eq_obj1id[i], b: model.eq_obj2id[i], kind, position_error })
  }
  return joints
}

/** The distance of the two ends of an equality constraint: its first three rows in `efc_pos`. */
function measureError(data, constraint) {
  const first = data.efc_id.findIndex((id, row) => id === constraint && data.efc_type[row] === equality)
  return first < 0 ? undefined : Math.hypot(...data.efc_pos.slice(first, first + 3))
}

/**
 * Returns the group of each body: the root of its tree, or the lowest root of the trees that equality constraints connect. Forces between
 * such trees are not known.
 */
export function listGroups(model) {
  const roots = [...model.body_rootid]
  for (let i = 0; i < model.neq; i++) {
    if (equalityKinds[model.eq_type[i]] === undefined) continue
    const [one, two] = [roots[model.eq_obj1id[i]], roots[model.eq_obj2id[i]]]
    if (one === 0 || two === 0) continue
    for (let id = 0; id < roots.length; id++)
      if (roots[id] === one || roots[id] === two) roots[id] = Math.min(one, two)
  }
  return roots
}
