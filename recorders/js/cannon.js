// cspell:ignore stepnumber narrowphase -- names of cannon-es
/** Records cannon-es simulations. Tested with cannon-es 0.20.0. */
import { add, distance, findUp, multiplyQuaternions, rotate, toList } from './vectors.js'
import { World } from './world.js'

/** Bits of Body.type, and types of shapes. */
const [dynamic, fixed] = [1, 2]
const [sphere, plane, box] = [1, 2, 4]
const asleep = 2

/**
 * Returns a recorder of a world. Add the bodies and constraints first. Call `step()` after every step of `dt`, and `close()` at the end. If
 * `world.step()` or `world.fixedStep()` takes several internal steps, the contacts of that frame are not known.
 *
 * Recorded: bodies, shapes, contacts with normal and tangential impulses, forces and damping, and joints with their position errors; the
 * reactions of point-to-point constraints. With `enableFrictionReduction`, tangential impulses are not recorded. cannon-es does not
 * expose the state of the solver.
 *
 * @param {object} world
 * @param {(bytes: Uint8Array) => void} write
 * @param {object} [constants] further constants, such as `dt`, `engine_version`, `scenario` or `seed`; and `describeBody`: returns further members of a body
 */
export function recordCannon(world, write, constants = {}) {
  const gravity = toList(world.gravity)
  const up = findUp(gravity)
  const recorder = new World(
    {
      list: () => world.bodies,
      describe: (body) => describeBody(body, up),
      read: readState,
      isResting: (body) => body.type === fixed || body.sleepState === asleep,
      listJointPairs: () => world.constraints.flatMap(toPair),
    },
    write,
    { engine: 'cannon-es', gravity, lambda_unit: 'N·s', convention: { up }, ...constants },
  )
  let driven = []
  // cannon-es dispatches this after the solver, before it moves the bodies and clears their forces.
  const listen = () => {
    driven = listForces(world)
  }
  world.addEventListener('preStep', listen)
  let { stepnumber } = world
  let time = 0
  return {
    /** Records the state after a step. `forces`: `{body, force, torque}` of impulses that you applied, divided by the time step. */
    step({ forces = [] } = {}) {
      const count = world.stepnumber - stepnumber
      stepnumber = world.stepnumber
      time += world.dt * count
      const isWhole = count === 1
      recorder.frame({
        time,
        ...(isWhole && { contacts: listContacts(world) }),
        joints: world.constraints.map((constraint) => readJoint(constraint, world.dt, isWhole)),
        forces: [...driven, ...forces],
      })
    },
    close() {
      world.removeEventListener('preStep', listen)
      recorder.close()
    },
  }
}

function toPair({ bodyA, bodyB }) {
  const [first, second = first] = [bodyA, bodyB].filter(({ type }) => type === dynamic)
  return first === undefined ? [] : [[first, second]]
}

const readState = (body) => ({
  position: toList(body.position),
  velocity: toList(body.velocity),
  orientation: toList(body.quaternion),
  angular_velocity_world: toList(body.angularVelocity),
})

function describeBody(body, up) {
  const shape = body.shapes.length === 1 ? describeShape(body, up) : {}
  if (body.type === fixed)
    return {
      is_environment: true,
      position: toList(body.position),
      orientation: toList(body.quaternion),
      ...shape,
    }
  if (body.type !== dynamic) return shape
  return { mass: body.mass, inertia: toList(body.inertia), ...shape }
}

function describeShape(
  { shapes: [shape], shapeOffsets: [offset], shapeOrientations: [turn], quaternion, type },
  up,
) {
  if (offset.length() > 1e-9 || Math.abs(turn.w) < 1 - 1e-9) return {}
  if (shape.type === sphere) return { shape: { kind: 'sphere', radius: shape.radius } }
  if (shape.type === box) return { shape: { kind: 'box' }, half_extents: toList(shape.halfExtents) }
  if (shape.type !== plane || type !== fixed) return {}
  // The free side of a plane of cannon-es is +z; that of a recorded plane is the up axis.
  const turned = up === 'z' ? [1, 0, 0, 0] : [Math.SQRT1_2, Math.SQRT1_2, 0, 0]
  return { shape: { kind: 'plane' }, orientation: multiplyQuaternions(toList(quaternion), turned) }
}

/** The position before the step, to which contacts belong. */
const getPlace = (body) => toList(body.type === fixed ? body.position : body.previousPosition)

/** Multipliers are forces: -n on the first body, and likewise -t of the two equations of friction that follow each contact. */
function listContacts(world) {
  const friction = groupFriction(world)
  return world.contacts
    .filter(({ enabled }) => enabled)
    .map((contact) => {
      const { bi, bj, ni, ri, rj, multiplier, restitution } = contact
      const normal = toList(ni)
      const [onA, onB] = [add(getPlace(bi), toList(ri)), add(getPlace(bj), toList(rj))]
      const gap = add(onB, onA, -1).reduce((sum, part, k) => sum + part * normal[k], 0)
      const tangents = friction.get(contact)
      const coefficient = findFriction(world, contact)
      return {
        a: bi,
        b: bj,
        point: onA,
        normal,
        depth: -gap,
        friction: coefficient,
        restitution,
        normal_impulse: multiplier * world.dt,
        ...(tangents && {
          tangent1: toList(tangents[0].t),
          tangent2: toList(tangents[1].t),
          tangent1_impulse: -tangents[0].multiplier * world.dt,
          tangent2_impulse: -tangents[1].multiplier * world.dt,
        }),
      }
    })
}

/** Pairs each contact with its equations of friction, which have the same lever arm. */
function groupFriction(world) {
  const grouped = new Map()
  if (world.narrowphase.enableFrictionReduction) return grouped
  let next = 0
  for (const contact of world.contacts) {
    const [one, two] = world.frictionEquations.slice(next, next + 2)
    if (one?.bi !== contact.bi || one.bj !== contact.bj || one.ri.distanceTo(contact.ri) > 1e-9) continue
    grouped.set(contact, [one, two])
    next += 2
  }
  return grouped
}

function findFriction(world, { bi, bj, si, sj }) {
  const [one, two] = [si.material ?? bi.material, sj.material ?? bj.material]
  if (one && two && one.friction >= 0 && two.friction >= 0) return one.friction * two.friction
  return ((one && two && world.getContactMaterial(one, two)) ?? world.defaultContactMaterial).friction
}

/** Forces other than gravity, and damping, which multiplies velocities by (1 - d)^dt after the solver. */
function listForces({ bodies, gravity, dt }) {
  return bodies.flatMap((body) => {
    if (body.type !== dynamic || body.sleepState === asleep) return []
    const kept = (damping) => 1 - (1 - damping) ** -dt
    const drag = (body.mass * kept(body.linearDamping)) / dt
    const pushed = add(toList(body.force), toList(gravity), -body.mass)
    const force = add(pushed, toList(body.velocity), drag)
    const turn = toList(body.quaternion)
    const spin = rotate([turn[0], -turn[1], -turn[2], -turn[3]], toList(body.angularVelocity))
    const momentum = rotate(
      turn,
      spin.map((part, k) => part * toList(body.inertia)[k]),
    )
    const torque = add(toList(body.torque), momentum, kept(body.angularDamping) / dt)
    return [...force, ...torque].some((part) => part !== 0) ? [{ body, force, torque }] : []
  })
}

/** Constraints with pivots hold two points together with three equations along the axes. */
function readJoint(constraint, dt, isWhole) {
  const { bodyA: a, bodyB: b, pivotA, pivotB, equations } = constraint
  if (pivotA === undefined) return { a, b }
  const toWorld = (body, pivot) => add(toList(body.position), rotate(toList(body.quaternion), toList(pivot)))
  const kind = 'motorEquation' in constraint ? 'hinge' : 'xA' in constraint ? 'fixed' : 'ball'
  const joint = {
    a,
    b,
    kind,
    point: add(getPlace(a), toList(equations[0].ri)),
    position_error: distance(toWorld(a, pivotA), toWorld(b, pivotB)),
  }
  if (equations.length !== 3 || !isWhole) return joint
  const impulse = equations.reduce(
    (sum, { ni, multiplier }) => add(sum, toList(ni), -multiplier * dt),
    [0, 0, 0],
  )
  return { ...joint, impulse, torque: [0, 0, 0] }
}
