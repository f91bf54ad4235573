// cspell:ignore toi -- time of impact, in Box2D
/** Records planck (Box2D) simulations. Tested with planck 1.5.0. */
import { add, distance } from './vectors.js'
import { World } from './world.js'

const jointKinds = {
  'revolute-joint': 'hinge',
  'weld-joint': 'fixed',
  'prismatic-joint': 'slider',
}
/** Joints whose anchors coincide. */
const pinned = new Set(['hinge', 'fixed'])

/**
 * Returns a recorder of a world. Create the joints first. Call `step()` after every `world.step()`, and `close()` at the end.
 *
 * The plane of planck is recorded as the vertical plane z = 0 with y up: positions are (x, y, 0), and bodies turn about z.
 * Boxes get the larger of their half extents as depth, circles become spheres, and the only moment of inertia stands for all three.
 *
 * Recorded: bodies, shapes, contacts with normal and tangential impulses, forces and damping, and joints with their reactions. planck does
 * not expose the state of the solver.
 *
 * @param {object} world
 * @param {(bytes: Uint8Array) => void} write
 * @param {object} [constants] further constants, such as `dt`, `engine_version`, `scenario` or `seed`; and `describeBody`: returns further members of a body
 */
export function recordPlanck(world, write, constants = {}) {
  const { x, y } = world.getGravity()
  const recorder = new World(
    {
      list: () => listLinked(world.getBodyList()).filter((body) => body.isActive()),
      describe: describeBody,
      read: readState,
      listJointPairs: () => listPairs(world),
    },
    write,
    {
      engine: 'planck',
      gravity: [x, y, 0],
      lambda_unit: 'N·s',
      convention: { up: 'y' },
      ...constants,
    },
  )
  const current = new Step(world)
  let time = 0
  return {
    /** Records the state after a step. `forces`: `{body, force, torque}` of impulses that you applied, divided by the time step. */
    step({ forces = [] } = {}) {
      time += current.dt
      recorder.frame({
        time,
        contacts: current.listContacts(),
        joints: current.listJoints(),
        forces: [...current.forces, ...forces],
      })
    },
    close() {
      current.stop()
      recorder.close()
    },
  }
}

/** What planck reports during a step. */
class Step {
  dt = 0
  forces = []
  #world
  #places = new Map()
  #poses = new Map()
  #manifolds = new Map()
  #solved = []
  #listeners = {
    'pre-step': (dt) => this.#begin(dt),
    'pre-solve': (contact) => this.#manifolds.set(contact, this.#readManifold(contact)),
    'post-solve': (contact, impulse) => this.#solve(contact, impulse),
  }

  constructor(world) {
    this.#world = world
    for (const [event, listener] of Object.entries(this.#listeners)) world.on(event, listener)
  }

  stop() {
    for (const [event, listener] of Object.entries(this.#listeners)) this.#world.off(event, listener)
  }

  /** Contacts that were solved, with the geometry before they were; and those of sleeping bodies with their last impulses. */
  listContacts() {
    const solved = new Set(this.#solved.map(({ contact }) => contact))
    const resting = listLinked(this.#world.getContactList())
      .filter(
        (contact) =>
          contact.isTouching() && contact.isEnabled() && !isSensor(contact) && !solved.has(contact),
      )
      .map((contact) => {
        const points = contact.getManifold().points
        return {
          contact,
          manifold: readManifold(contact),
          normal: points.map(({ normalImpulse }) => normalImpulse),
          tangential: points.map(({ tangentImpulse }) => tangentImpulse),
        }
      })
    return [...this.#solved, ...resting].flatMap(toRows)
  }

  listJoints() {
    return listLinked(this.#world.getJointList()).map((joint) => {
      const kind = jointKinds[joint.getType()] ?? 'other'
      const [one, two] = [joint.getAnchorA(), joint.getAnchorB()].map(toPoint)
      const row = {
        a: joint.getBodyA(),
        b: joint.getBodyB(),
        kind,
        point: this.#places.get(joint) ?? two,
        ...(pinned.has(kind) && { position_error: distance(one, two) }),
      }
      // The reaction acts on b, in N and N·m. Other joints act at two points, and axes of sliders turn.
      if (!pinned.has(kind) || this.dt === 0) return row
      const force = joint.getReactionForce(1 / this.dt)
      const torque = joint.getReactionTorque(1 / this.dt) + (joint.getMotorTorque?.(1 / this.dt) ?? 0)
      const on = (part) => -part * this.dt
      return { ...row, impulse: [on(force.x), on(force.y), 0], torque: [0, 0, on(torque)] }
    })
  }

  #begin(dt) {
    this.dt = dt
    this.#solved = []
    this.#manifolds.clear()
    this.#places = new Map(
      listLinked(this.#world.getJointList()).map((joint) => [joint, toPoint(joint.getAnchorB())]),
    )
    const bodies = listLinked(this.#world.getBodyList())
    this.#poses = new Map(bodies.map((body) => [body, readPose(body)]))
    this.forces = bodies
      .filter((body) => body.isDynamic() && body.isAwake())
      .flatMap((body) => listForces(body, toPoint(this.#world.getGravity()), dt))
  }

  /**
   * The geometry of a contact. If planck has moved the bodies to their time of impact, the points are not known: it moves and turns them
   * further before it solves the contact.
   */
  #readManifold(contact) {
    const manifold = readManifold(contact)
    const bodies = [contact.getFixtureA().getBody(), contact.getFixtureB().getBody()]
    const isMoved = bodies.some((body) => this.#poses.has(body) && this.#poses.get(body) !== readPose(body))
    return isMoved ? { ...manifold, points: manifold.points.map(() => undefined) } : manifold
  }

  /** A contact is solved again if bodies are moved to their time of impact. */
  #solve(contact, { normalImpulses, tangentImpulses }) {
    const manifold = this.#manifolds.get(contact)
    if (manifold === undefined) return
    this.#solved.push({
      contact,
      manifold,
      normal: [...normalImpulses],
      tangential: [...tangentImpulses],
    })
  }
}

/** Forces of the user, a gravity scale other than 1, and damping, which divides velocities by 1 + d dt before the solver runs. */
function listForces(body, gravity, dt) {
  const mass = body.getMass()
  const scaled = gravity.map((part) => part * (body.getGravityScale() - 1) * mass)
  const pushed = add(scaled, toPoint(body.m_force))
  const [drag, turnDrag] = [body.getLinearDamping(), body.getAngularDamping()]
  const free = toPoint(body.getLinearVelocity()).map((part, k) => part + dt * (gravity[k] + pushed[k] / mass))
  const force = free.map((part, k) => pushed[k] - (mass * drag * part) / (1 + drag * dt))
  const inertia = getInertia(body)
  const spin = body.getAngularVelocity() + (dt * body.m_torque) / (inertia || 1)
  const torque = body.m_torque - (inertia * turnDrag * spin) / (1 + turnDrag * dt)
  return [...force, torque].some((part) => part !== 0) ? [{ body, force, torque: [0, 0, torque] }] : []
}

const toPoint = ({ x, y }) => [x, y, 0]

const readPose = (body) => `${toPoint(body.getWorldCenter())} ${body.getAngle()}`

function listLinked(first) {
  const items = []
  for (let item = first; item; item = item.getNext()) items.push(item)
  return items
}

const isSensor = (contact) => contact.getFixtureA().isSensor() || contact.getFixtureB().isSensor()

function readManifold(contact) {
  const { normal, points, separations, pointCount } = contact.getWorldManifold(null)
  return {
    normal: [normal.x, normal.y, 0],
    points: points.slice(0, pointCount).map(toPoint),
    depths: separations.slice(0, pointCount).map((separation) => -separation),
  }
}

/** The tangent is the normal turned by -90°. Impulses act on b. */
function toRows({ contact, manifold, normal, tangential }) {
  const [x, y] = manifold.normal
  return manifold.points.map((point, i) => ({
    a: contact.getFixtureA().getBody(),
    b: contact.getFixtureB().getBody(),
    point,
    normal: manifold.normal,
    depth: manifold.depths[i],
    friction: contact.getFriction(),
    restitution: contact.getRestitution(),
    normal_impulse: normal[i] ?? 0,
    tangent1: [y, -x, 0],
    tangent2: [0, 0, 1],
    tangent1_impulse: -(tangential[i] ?? 0),
    tangent2_impulse: 0,
  }))
}

const listPairs = (world) =>
  listLinked(world.getJointList()).flatMap((joint) => {
    const [first, second = first] = [joint.getBodyA(), joint.getBodyB()].filter((body) => body.isDynamic())
    return first === undefined ? [] : [[first, second]]
  })

const turnAboutZ = (angle) => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)]

function readState(body) {
  return {
    position: toPoint(body.getWorldCenter()),
    velocity: toPoint(body.getLinearVelocity()),
    orientation: turnAboutZ(body.getAngle()),
    angular_velocity_world: [0, 0, body.getAngularVelocity()],
  }
}

/** planck's moment is that about the origin of the body. */
function getInertia(body) {
  const { x, y } = body.getLocalCenter()
  return body.getInertia() - body.getMass() * (x * x + y * y)
}

function describeBody(body) {
  const fixtures = listLinked(body.getFixtureList()).filter((fixture) => !fixture.isSensor())
  const [fixture] = fixtures
  const surface = fixture && { friction: fixture.getFriction(), restitution: fixture.getRestitution() }
  const shape = fixtures.length === 1 ? describeShape(fixture.getShape()) : undefined
  if (body.isStatic()) {
    const centre = shape?.centre ?? { x: 0, y: 0 }
    return {
      is_environment: true,
      position: toPoint(body.getWorldPoint(centre)),
      orientation: turnAboutZ(body.getAngle()),
      ...surface,
      ...shape?.members,
    }
  }
  const inertia = getInertia(body)
  const constants = body.isDynamic() ? { mass: body.getMass(), inertia: [inertia, inertia, inertia] } : {}
  const centre = body.getLocalCenter()
  const isCentred = shape !== undefined && distance(toPoint(shape.centre), toPoint(centre)) < 1e-6
  return { ...constants, ...surface, ...(isCentred && shape.members) }
}

/** The skin, in which planck lets shapes touch, belongs to the shape. Other shapes are not described. */
function describeShape(shape) {
  if (shape.getType() === 'circle')
    return { centre: shape.getCenter(), members: { shape: { kind: 'sphere', radius: shape.getRadius() } } }
  if (shape.getType() !== 'polygon' || shape.m_vertices.length !== 4) return undefined
  const [xs, ys] = ['x', 'y'].map((axis) => shape.m_vertices.map((vertex) => vertex[axis]))
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
  const isOn = (value, one, two) => Math.min(Math.abs(value - one), Math.abs(value - two)) < 1e-9
  if (!shape.m_vertices.every(({ x, y }) => isOn(x, left, right) && isOn(y, low, high))) return undefined
  const [width, height] = [(right - left) / 2 + shape.getRadius(), (high - low) / 2 + shape.getRadius()]
  return {
    centre: { x: (left + right) / 2, y: (low + high) / 2 },
    members: { shape: { kind: 'box' }, half_extents: [width, height, Math.max(width, height)] },
  }
}
