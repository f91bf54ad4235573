/** Records the bodies of an engine. */
import { Recorder } from './recorder.js'

/**
 * @typedef {object} Engine
 * @property {() => Iterable<any>} list the bodies of the world. A key identifies a body as long as it exists
 * @property {(key: any) => object} describe the constants of a body, without its id
 * @property {(key: any) => object} read position, velocity, orientation and angular velocity of a body that moves
 * @property {(key: any) => boolean} [isResting] whether the engine does not simulate a body, because it sleeps or does not move. The last
 *   contacts of two such bodies are recorded again, because some engines do not report them
 * @property {() => Iterable<[any, any]>} listJointPairs the bodies that joints connect; they become groups
 */

/**
 * Numbers the bodies of an engine from 1, and describes bodies that appear later before their first frame. Bodies whose description has
 * `is_environment` have no states.
 */
export class World {
  #engine
  #describeBody
  #recorder
  #ids = new Map()
  #moving = new Set()
  #lastContacts = []

  /**
   * @param {Engine} engine
   * @param {(bytes: Uint8Array) => void} write
   * @param {object} constants with `describeBody`, which returns further members of a body
   */
  constructor(engine, write, { describeBody = () => ({}), ...constants }) {
    this.#engine = engine
    this.#describeBody = describeBody
    this.#recorder = new Recorder(write, { ...constants, bodies: this.#describe([...engine.list()]) })
  }

  /** Returns the id of a body; undefined if the world does not contain it. */
  id(key) {
    return this.#ids.get(key)
  }

  /** Records the states of all bodies, and further members of the frame. Contacts and joints of unknown bodies are omitted. */
  frame({ contacts, joints, forces = [], ...members }) {
    const present = [...this.#engine.list()]
    const added = present.filter((key) => !this.#ids.has(key))
    if (added.length > 0) this.#recorder.addBodies(this.#describe(added))
    const columns = { position: [], velocity: [], orientation: [], angular_velocity_world: [] }
    const moving = present.filter((key) => this.#moving.has(key))
    for (const key of moving) {
      const state = this.#engine.read(key)
      for (const [name, column] of Object.entries(columns)) column.push(...state[name])
    }
    this.#recorder.frame({
      body_id: moving.map((key) => this.#ids.get(key)),
      ...columns,
      ...members,
      ...this.#listForces(forces),
      contacts: contacts && this.#number(this.#addResting(contacts)),
      joints: joints && this.#number(joints),
    })
  }

  close() {
    this.#recorder.close()
  }

  #describe(keys) {
    for (const key of keys) this.#ids.set(key, this.#ids.size + 1)
    const groups = groupBodies(this.#engine.listJointPairs())
    return keys.map((key) => {
      const body = { ...this.#engine.describe(key), ...this.#describeBody(key) }
      if (!body.is_environment) this.#moving.add(key)
      const root = groups.get(key)
      const group = body.is_environment || root === undefined ? undefined : this.#ids.get(root)
      return { id: this.#ids.get(key), ...body, group }
    })
  }

  #addResting(contacts) {
    const { isResting } = this.#engine
    if (isResting === undefined) return contacts
    const known = new Set(contacts.map(({ a, b }) => `${this.#ids.get(a)} ${this.#ids.get(b)}`))
    const resting = this.#lastContacts.filter(
      ({ a, b }) => !known.has(`${this.#ids.get(a)} ${this.#ids.get(b)}`) && isResting(a) && isResting(b),
    )
    this.#lastContacts = [...contacts, ...resting]
    return this.#lastContacts
  }

  /** Forces act at the centre of mass. */
  #listForces(forces) {
    const acting = forces.filter(({ body }) => this.#moving.has(body))
    if (acting.length === 0) return {}
    return {
      force_body: acting.map(({ body }) => this.#ids.get(body)),
      force: acting.flatMap(({ force = [0, 0, 0] }) => force),
      torque: acting.flatMap(({ torque = [0, 0, 0] }) => torque),
    }
  }

  /** Replaces bodies by their ids. */
  #number(rows) {
    return rows
      .map((row) => ({ ...row, a: this.#ids.get(row.a), b: this.#ids.get(row.b) }))
      .filter(({ a, b }) => a !== undefined && b !== undefined && a !== b)
  }
}

/** Returns the first body of the group of each connected body. */
function groupBodies(pairs) {
  const parents = new Map()
  const find = (key) => {
    let root = key
    while (parents.get(root) !== root) root = parents.get(root)
    return root
  }
  for (const [a, b] of pairs) {
    for (const key of [a, b]) if (!parents.has(key)) parents.set(key, key)
    parents.set(find(b), find(a))
  }
  return new Map([...parents.keys()].map((key) => [key, find(key)]))
}
