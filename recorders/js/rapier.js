// cspell:ignore multibody -- joints of Rapier
/** Records Rapier simulations. Tested with @dimforge/rapier3d-compat 0.21.0. */
import { add, conjugate, distance, findUp, multiplyQuaternions, rotate, toList } from './vectors.js'
import { World } from './world.js'

/** By ShapeType. */
const [ball, cuboid, capsule] = [0, 1, 2]
/** By JointType. */
const jointKinds = ['hinge', 'fixed', 'slider', 'other', 'other', 'ball', 'other']
/** Joints whose anchors coincide. */
const pinned = new Set(['hinge', 'fixed', 'ball'])

/**
 * Returns a recorder of a world. Create the joints first. Call `step()` after every `world.step()`, and `close()` at the end.
 *
 * Recorded: bodies and shapes, contacts with their normal impulses, joints with the distance of their anchors. Rapier does not expose
 * friction impulses (it reports 0), forces of joints, or the state of the solver: they are not recorded.
 *
 * @param {object} world
 * @param {(bytes: Uint8Array) => void} write
 * @param {object} [constants] further constants, such as `engine_version`, `scenario` or `seed`; and `describeBody`: returns further members of a body
 */
export function recordRapier(world, write, constants = {}) {
  const gravity = toList(world.gravity)
  const up = findUp(gravity)
  const engine = {
    list: () => listBodies(world),
    describe: (body) => describeBody(body, up),
    read: readState,
    listJointPairs: () => listPairs(world),
  }
  const dt = world.timestep
  const recorder = new World(engine, write, {
    engine: 'Rapier',
    dt,
    gravity,
    lambda_unit: 'N·s',
    convention: { up },
    ...constants,
  })
  let before = readPoses(world)
  const stale = new StaleImpulses(world)
  let time = 0
  return {
    /** Records the state after a step. `forces`: `{body, force, torque}` of impulses that you applied, divided by the time step. */
    step({ forces = [] } = {}) {
      time += world.timestep
      recorder.frame({
        time,
        contacts: listContacts(world, before, stale),
        joints: listJoints(world, before),
        forces: [...listForces(world, gravity), ...forces],
      })
      before = readPoses(world)
      stale.endStep()
    },
    close: () => recorder.close(),
  }
}

/** Lists a set of Rapier, which has only `forEach`. */
function toArray(set) {
  const items = []
  set.forEach((item) => {
    items.push(item)
  })
  return items
}

/** Bodies, and colliders without a body. */
const listBodies = ({ bodies, colliders }) => [
  ...toArray(bodies).filter((body) => body.isEnabled()),
  ...toArray(colliders).filter((collider) => collider.parent() === null),
]

const isCollider = (key) => typeof key.shapeType === 'function'
const getOwner = (collider) => collider.parent() ?? collider

/** Centre of mass and principal axes. */
function readState(body) {
  const axes = multiplyQuaternions(toList(body.rotation()), getAxes(body))
  return {
    position: toList(body.worldCom()),
    velocity: toList(body.linvel()),
    orientation: axes,
    angular_velocity_world: toList(body.angvel()),
  }
}

/** The principal axes in the body. A body with equal moments has no unique ones: then its own axes. */
function getAxes(body) {
  const { x, y, z } = body.principalInertia()
  const isRound = Math.max(x, y, z) - Math.min(x, y, z) < 1e-6 * Math.max(x, y, z)
  return isRound ? [1, 0, 0, 0] : toList(body.principalInertiaLocalFrame())
}

function describeBody(key, up) {
  if (isCollider(key))
    return {
      is_environment: true,
      position: toList(key.translation()),
      orientation: toList(key.rotation()),
      ...describeShape(key, up),
    }
  const collider = key.numColliders() === 1 ? key.collider(0) : undefined
  if (key.isFixed()) {
    const place = collider ?? key
    const shape = collider === undefined ? {} : describeShape(collider, up)
    return {
      is_environment: true,
      position: toList(place.translation()),
      orientation: toList(place.rotation()),
      ...shape,
    }
  }
  const inertia = key.isDynamic() ? { mass: key.mass(), inertia: toList(key.principalInertia()) } : {}
  const { orientation, position } = readState(key)
  const isAligned =
    collider !== undefined &&
    distance(toList(collider.translation()), position) < 1e-5 &&
    Math.abs(multiplyQuaternions(conjugate(orientation), toList(collider.rotation()))[0]) > 1 - 1e-6
  return { ...inertia, ...(isAligned && describeShape(collider, up)) }
}

/** The shape of a collider in its own axes. Capsules lie along y. */
function describeShape(collider, up) {
  const surface = { friction: collider.friction(), restitution: collider.restitution() }
  switch (collider.shapeType()) {
    case ball:
      return { shape: { kind: 'sphere', radius: collider.radius() }, ...surface }
    case cuboid:
      return { shape: { kind: 'box' }, half_extents: toList(collider.halfExtents()), ...surface }
    case capsule:
      if (up !== 'y') return surface
      return {
        shape: { kind: 'capsule', radius: collider.radius(), half_length: collider.halfHeight() },
        ...surface,
      }
  }
  return surface
}

const readPose = (placed) => ({ place: toList(placed.translation()), turn: toList(placed.rotation()) })

const readPoses = ({ bodies, colliders }) =>
  new Map([...toArray(bodies), ...toArray(colliders)].map((placed) => [placed, readPose(placed)]))

const move = ({ place, turn }, point) => add(place, rotate(turn, point))

/**
 * Recognizes impulses that did not act. In the step in which a contact wakes a body, Rapier lets the body fall, but still reports the last
 * impulses of its other contacts.
 */
class StaleImpulses {
  #world
  #sleeping = new Set()
  #last = new Map()
  #now = new Map()

  constructor(world) {
    this.#world = world
    this.endStep()
  }

  /** Returns the impulse that acted. `key` identifies a point of a pair. */
  correct(key, impulse, bodies) {
    this.#now.set(key, impulse)
    const hasWoken = bodies.some((body) => this.#sleeping.has(body) && !body.isSleeping())
    return hasWoken && this.#last.get(key) === impulse ? 0 : impulse
  }

  endStep() {
    this.#last = this.#now
    this.#now = new Map()
    const bodies = toArray(this.#world.bodies)
    this.#sleeping = new Set(bodies.filter((body) => body.isDynamic() && body.isSleeping()))
  }
}

/** Rapier finds contacts before it moves the bodies. Points that neither touch nor push are omitted. */
function listContacts(world, before, stale) {
  const contacts = []
  const pose = (collider) => before.get(collider) ?? readPose(collider)
  for (const [first, second] of listTouching(world))
    world.contactPair(first, second, (manifold, isFlipped) => {
      const [one, two] = isFlipped ? [second, first] : [first, second]
      for (let i = 0; i < manifold.numContacts(); i++) {
        const gap = manifold.contactDist(i)
        const key = `${first.handle} ${second.handle} ${i}`
        const impulse = stale.correct(key, manifold.contactImpulse(i), [getOwner(one), getOwner(two)])
        if (gap > 0 && impulse === 0) continue
        const on1 = move(pose(one), toList(manifold.localContactPoint1(i)))
        const on2 = move(pose(two), toList(manifold.localContactPoint2(i)))
        contacts.push({
          a: getOwner(one),
          b: getOwner(two),
          point: on1.map((part, k) => (part + on2[k]) / 2),
          normal: toList(manifold.normal()),
          depth: -gap,
          friction: manifold.friction(),
          restitution: manifold.restitution(),
          normal_impulse: impulse,
        })
      }
    })
  return contacts
}

function listTouching(world) {
  const pairs = []
  for (const first of toArray(world.colliders))
    world.contactPairsWith(first, (second) => {
      if (first.handle < second.handle) pairs.push([first, second])
    })
  return pairs
}

/** The two bodies of each joint. Joints of `multibodyJoints` expose only which bodies have them. */
function listAttached(world) {
  const joints = toArray(world.impulseJoints).map((joint) => ({ joint, a: joint.body1(), b: joint.body2() }))
  const ends = new Map()
  for (const body of toArray(world.bodies))
    world.multibodyJoints.forEachJointHandleAttachedToRigidBody(body.handle, (handle) => {
      const other = ends.get(handle)
      if (other === undefined) ends.set(handle, body)
      else if (other !== body) joints.push({ a: other, b: body })
    })
  return joints
}

const listPairs = (world) =>
  listAttached(world).flatMap(({ a, b }) => {
    const [first = undefined, second = first] = [a, b].filter((body) => body.isDynamic())
    return first === undefined ? [] : [[first, second]]
  })

function listJoints(world, before) {
  return listAttached(world).map(({ joint, a, b }) => {
    if (joint === undefined) return { a, b }
    const kind = jointKinds[joint.type()] ?? 'other'
    const [endA, endB] = [toList(joint.anchor1()), toList(joint.anchor2())]
    const point = move(before.get(a) ?? readPose(a), endA)
    const error = pinned.has(kind) ? distance(move(readPose(a), endA), move(readPose(b), endB)) : undefined
    return { a, b, kind, point, position_error: error }
  })
}

/** Forces of the user, a gravity scale other than 1, and damping, which divides velocities by 1 + d dt. */
function listForces(world, gravity) {
  const awake = toArray(world.bodies).filter((body) => body.isDynamic() && !body.isSleeping())
  return awake.flatMap((body) => {
    const mass = body.mass()
    const scaled = gravity.map((part) => part * (body.gravityScale() - 1) * mass)
    const damped = toList(body.linvel()).map((part) => -part * body.linearDamping() * mass)
    const force = add(add(scaled, damped), toList(body.userForce()))
    const torque = add(dampSpin(body), toList(body.userTorque()))
    return [...force, ...torque].some((part) => part !== 0) ? [{ body, force, torque }] : []
  })
}

function dampSpin(body) {
  const damping = body.angularDamping()
  if (damping === 0) return [0, 0, 0]
  const axes = readState(body).orientation
  const spin = rotate(conjugate(axes), toList(body.angvel()))
  const moments = toList(body.principalInertia())
  return rotate(
    axes,
    spin.map((part, k) => -part * moments[k] * damping),
  )
}
