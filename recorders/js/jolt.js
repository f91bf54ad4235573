/** Records Jolt simulations. Tested with jolt-physics 1.1.0. */
import { add, conjugate, distance, findUp, multiplyQuaternions, rotate } from './vectors.js'
import { World } from './world.js'

/**
 * Returns a recorder of a simulation. Add the bodies first. Call `step()` after every `jolt.Step(dt, 1)`, and `close()` at the end.
 *
 * Recorded: bodies, shapes, contacts with their geometry, damping and gravity factors, and joints with their position errors. Jolt does
 * not expose impulses of contacts, nor the state of the solver. It does not list constraints either: pass them.
 *
 * @param {object} Jolt the module
 * @param {object} jolt JoltInterface
 * @param {(bytes: Uint8Array) => void} write
 * @param {object} options `dt`; `constraints`: the two-body constraints; `listener`: methods of your own contact listener, because Jolt
 *   calls only one; `describeBody`: returns further members of a Body; and further constants, such as `engine_version`, `scenario` or `seed`
 */
export function recordJolt(
  Jolt,
  jolt,
  write,
  { constraints = [], listener = {}, describeBody: describeMore, ...constants },
) {
  const system = jolt.GetPhysicsSystem()
  const gravity = read(system.GetGravity())
  const up = findUp(gravity)
  const bodies = new Bodies(Jolt, system)
  const isResting = (key) => !bodies.get(key).IsActive()
  const recorder = new World(
    {
      list: () => bodies.list(),
      describe: (key) => ({ ...describeBody(Jolt, bodies.get(key), up), ...describeMore?.(bodies.get(key)) }),
      read: (key) => readState(bodies.get(key)),
      isResting,
      listJointPairs: () => constraints.flatMap(toPair),
    },
    write,
    { engine: 'Jolt', gravity, lambda_unit: 'N·s', convention: { up }, ...constants },
  )
  const contacts = new Contacts(Jolt, listener)
  system.SetContactListener(contacts.listener)
  const readPoints = () => constraints.map((constraint) => readEnds(constraint)[0])
  let before = readVelocities(bodies)
  let points = readPoints()
  let time = 0
  return {
    /** Records the state after a step. `forces`: `{body, force, torque}` of BodyIDs, also of impulses, divided by the time step. */
    step({ forces = [] } = {}) {
      time += constants.dt
      const driven = listForces(bodies, before, gravity, constants.dt)
      before = readVelocities(bodies)
      recorder.frame({
        time,
        contacts: contacts.take(),
        joints: constraints.map((constraint, i) => readJoint(Jolt, constraint, points[i])),
        forces: [...driven, ...forces.map((force) => ({ ...force, body: toKey(force.body) }))],
      })
      points = readPoints()
    },
    /** The listener is no longer called. */
    close() {
      system.SetContactListener(null)
      recorder.close()
    },
  }
}

/** Vectors and quaternions of Jolt are reused: their numbers are copied. */
const read = (vector) =>
  typeof vector.GetW === 'function'
    ? [vector.GetW(), vector.GetX(), vector.GetY(), vector.GetZ()]
    : [vector.GetX(), vector.GetY(), vector.GetZ()]

const toKey = (id) => id.GetIndexAndSequenceNumber()

/** The rigid bodies of a system by their id. */
class Bodies {
  #lock
  #system
  #ids
  #found = new Map()

  constructor(Jolt, system) {
    this.#system = system
    this.#ids = new Jolt.BodyIDVector()
    this.#lock = system.GetBodyLockInterfaceNoLock()
  }

  list() {
    this.#ids.clear()
    this.#system.GetBodies(this.#ids)
    this.#found = new Map()
    for (let i = 0; i < this.#ids.size(); i++) {
      const body = this.#lock.TryGetBody(this.#ids.at(i))
      if (body.IsRigidBody() && !body.IsSensor() && body.IsInBroadPhase())
        this.#found.set(toKey(body.GetID()), body)
    }
    return [...this.#found.keys()]
  }

  get(key) {
    return this.#found.get(key)
  }
}

/** Collects the contacts of a step, which Jolt finds before it moves the bodies. */
class Contacts {
  listener
  #rows = []

  constructor(Jolt, own) {
    this.listener = new Jolt.ContactListenerJS()
    const report = (call) => (body1, body2, manifold, settings) => {
      call?.(body1, body2, manifold, settings)
      this.#add(
        [body1, body2].map((body) => Jolt.wrapPointer(body, Jolt.Body)),
        Jolt.wrapPointer(manifold, Jolt.ContactManifold),
        Jolt.wrapPointer(settings, Jolt.ContactSettings),
      )
    }
    this.listener.OnContactValidate =
      own.OnContactValidate ?? (() => Jolt.ValidateResult_AcceptAllContactsForThisBodyPair)
    this.listener.OnContactAdded = report(own.OnContactAdded)
    this.listener.OnContactPersisted = report(own.OnContactPersisted)
    this.listener.OnContactRemoved = own.OnContactRemoved ?? (() => {})
  }

  take() {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #add([a, b], manifold, settings) {
    if (settings.mIsSensor) return
    const normal = read(manifold.mWorldSpaceNormal)
    const count = manifold.mRelativeContactPointsOn1.size()
    for (let i = 0; i < count; i++) {
      const on1 = read(manifold.GetWorldSpaceContactPointOn1(i))
      const on2 = read(manifold.GetWorldSpaceContactPointOn2(i))
      this.#rows.push({
        a: toKey(a.GetID()),
        b: toKey(b.GetID()),
        point: on1.map((part, k) => (part + on2[k]) / 2),
        normal,
        depth: add(on1, on2, -1).reduce((sum, part, k) => sum + part * normal[k], 0),
        friction: settings.mCombinedFriction,
        restitution: settings.mCombinedRestitution,
      })
    }
  }
}

/** Centre of mass and principal axes. */
function readState(body) {
  return {
    position: read(body.GetCenterOfMassPosition()),
    velocity: read(body.GetLinearVelocity()),
    orientation: multiplyQuaternions(read(body.GetRotation()), getAxes(body)),
    angular_velocity_world: read(body.GetAngularVelocity()),
  }
}

/** The principal axes in the body: its own axes if they are principal, because Jolt may permute them. */
const getAxes = (body) =>
  !body.IsDynamic() || hasOwnAxes(body) ? [1, 0, 0, 0] : read(body.GetMotionProperties().GetInertiaRotation())

function hasOwnAxes(body) {
  const inverse = body.GetMotionProperties().GetLocalSpaceInverseInertia()
  const columns = [inverse.GetAxisX(), inverse.GetAxisY(), inverse.GetAxisZ()].map(read)
  const largest = Math.max(...columns.map((column, k) => column[k]))
  return columns.every((column, k) => column.every((part, i) => i === k || Math.abs(part) < 1e-6 * largest))
}

const getMass = (body) => 1 / body.GetMotionProperties().GetInverseMass()

function getInertia(body) {
  const motion = body.GetMotionProperties()
  const inverse = hasOwnAxes(body)
    ? motion.GetLocalSpaceInverseInertia().GetDiagonal3()
    : motion.GetInverseInertiaDiagonal()
  return read(inverse).map((part) => 1 / part)
}

function describeBody(Jolt, body, up) {
  const surface = { friction: body.GetFriction(), restitution: body.GetRestitution() }
  const shape = describeShape(Jolt, body.GetShape(), up)
  if (body.IsStatic())
    return {
      is_environment: true,
      position: read(body.GetCenterOfMassPosition()),
      orientation: read(body.GetRotation()),
      ...surface,
      ...shape,
    }
  const inertia = body.IsDynamic() ? { mass: getMass(body), inertia: getInertia(body) } : {}
  const isAligned = Math.abs(getAxes(body)[0]) > 1 - 1e-6
  return { ...inertia, ...surface, ...(isAligned && shape) }
}

/** The shape around the centre of mass. Capsules lie along y. */
function describeShape(Jolt, shape, up) {
  switch (shape.GetSubType()) {
    case Jolt.EShapeSubType_Sphere:
      return { shape: { kind: 'sphere', radius: Jolt.castObject(shape, Jolt.SphereShape).GetRadius() } }
    case Jolt.EShapeSubType_Box:
      return {
        shape: { kind: 'box' },
        half_extents: read(Jolt.castObject(shape, Jolt.BoxShape).GetHalfExtent()),
      }
    case Jolt.EShapeSubType_Capsule: {
      const capsule = Jolt.castObject(shape, Jolt.CapsuleShape)
      const half = capsule.GetHalfHeightOfCylinder()
      return up === 'y' ? { shape: { kind: 'capsule', radius: capsule.GetRadius(), half_length: half } } : {}
    }
  }
  return {}
}

const readVelocities = (bodies) =>
  new Map(
    bodies.list().map((key) => {
      const body = bodies.get(key)
      return [key, [read(body.GetLinearVelocity()), read(body.GetAngularVelocity())]]
    }),
  )

/** A gravity factor other than 1, and damping, which multiplies velocities by 1 - d dt before the solver runs. */
function listForces(bodies, before, gravity, dt) {
  return bodies.list().flatMap((key) => {
    const body = bodies.get(key)
    const [velocity, spin] = before.get(key) ?? []
    if (!body.IsDynamic() || !body.IsActive() || velocity === undefined) return []
    const motion = body.GetMotionProperties()
    const [mass, factor] = [getMass(body), motion.GetGravityFactor()]
    const drag = mass * motion.GetLinearDamping()
    const force = gravity.map(
      (part, k) => part * (factor - 1) * mass - drag * (velocity[k] + part * factor * dt),
    )
    const axes = readState(body).orientation
    const moments = getInertia(body)
    const momentum = rotate(
      axes,
      rotate(conjugate(axes), spin).map((part, k) => part * moments[k]),
    )
    const torque = momentum.map((part) => -part * motion.GetAngularDamping())
    return [...force, ...torque].some((part) => part !== 0) ? [{ body: key, force, torque }] : []
  })
}

function toPair(constraint) {
  const [first, second = first] = [constraint.GetBody1(), constraint.GetBody2()]
    .filter((body) => body.IsDynamic())
    .map((body) => toKey(body.GetID()))
  return first === undefined ? [] : [[first, second]]
}

/** Joints whose ends coincide; others have no position error. */
const pinned = (Jolt) =>
  new Map([
    [Jolt.EConstraintSubType_Fixed, 'fixed'],
    [Jolt.EConstraintSubType_Point, 'ball'],
    [Jolt.EConstraintSubType_Hinge, 'hinge'],
    [Jolt.EConstraintSubType_SwingTwist, 'ball'],
  ])

function readJoint(Jolt, constraint, before) {
  const [a, b] = [constraint.GetBody1(), constraint.GetBody2()]
  const ids = { a: toKey(a.GetID()), b: toKey(b.GetID()) }
  const kind = pinned(Jolt).get(constraint.GetSubType())
  if (kind === undefined) return ids
  const [one, two] = readEnds(constraint)
  return { ...ids, kind, point: before, position_error: distance(one, two) }
}

function readEnds(constraint) {
  const toWorld = (body, matrix) =>
    add(read(body.GetCenterOfMassPosition()), rotate(read(body.GetRotation()), read(matrix.GetTranslation())))
  return [
    toWorld(constraint.GetBody1(), constraint.GetConstraintToBody1Matrix()),
    toWorld(constraint.GetBody2(), constraint.GetConstraintToBody2Matrix()),
  ]
}
