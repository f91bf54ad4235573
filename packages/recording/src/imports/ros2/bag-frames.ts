import { rejectMapping } from '../../domain/imports/table-mapping.ts'
import { TimeOrigin } from '../time-origin.ts'
import type { BagContent } from './bag-content.ts'
import type { BagMapping } from './bag-mapping.ts'
import { FrameTree } from './frame-tree.ts'
import { listBodyNames, toContacts } from './gazebo-contacts.ts'

export class BagFrames {
  readonly #content: BagContent
  readonly #mapping: BagMapping
  readonly #tree: FrameTree
  readonly #fixed: number
  /** Body ids by frame number. */
  readonly #ids = new Map<number, number>()
  /** Body ids by collision name. */
  readonly #collisions = new Map<string, number>()
  readonly #origin = new TimeOrigin(1e9)
  /** Stamps of contacts that are not in a frame yet, earliest last. */
  readonly #contactStamps: bigint[]
  #lostContacts = 0
  readonly notes: string[] = []

  constructor(content: BagContent, mapping: BagMapping, path: string) {
    content.requirePoses()
    this.#content = content
    this.#mapping = mapping
    this.#tree = new FrameTree(content.samples, path)
    for (const { child, parent, pose } of content.staticTransforms) this.#tree.addStatic(child, parent, pose)
    this.#fixed = this.#findFixed()
    this.#contactStamps = [...content.contacts.keys()].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0))
  }

  *lines(): Generator<object> {
    yield { run: this.#declareRun() }
    const { samples } = this.#content
    const order = samples.sort()
    let [id, partial, unresolved, joined] = [0, 0, 0, 0]
    for (let from = 0; from < order.length; ) {
      const first = samples.stamp(order[from] ?? 0)
      const present = new Map<number, number>()
      let to = from
      for (; to < order.length; to++) {
        const sample = order[to] ?? 0
        const stamp = samples.stamp(sample)
        const isLater = stamp !== first
        // A second pose of a body starts a new frame.
        if (stamp - first > this.#mapping.tolerance || (isLater && present.has(samples.child(sample)))) break
        this.#chooseSample(present, sample)
        if (isLater) joined += 1
      }
      from = to
      const { bodies, lostPoses } = this.#resolve(present)
      unresolved += lostPoses
      if (bodies.length === 0) continue
      if (bodies.length < this.#ids.size) partial += 1
      id += 1
      yield { frame_id: id, ...this.#origin.convert(first), bodies, ...this.#takeContacts(first) }
    }
    this.#describe({ frames: id, partial, unresolved, joined })
  }

  /** Selects odometry instead of a transform, which has no velocities. */
  #chooseSample(present: Map<number, number>, sample: number): void {
    const { samples } = this.#content
    const child = samples.child(sample)
    const current = present.get(child)
    const hasVelocity = (index: number) => !Number.isNaN(samples.numbers(index)[7])
    if (current === undefined || (!hasVelocity(current) && hasVelocity(sample))) present.set(child, sample)
  }

  #resolve(present: ReadonlyMap<number, number>): {
    readonly bodies: readonly object[]
    readonly lostPoses: number
  } {
    const bodies: object[] = []
    let lostPoses = 0
    for (const [child, sample] of present) {
      const id = this.#ids.get(child)
      if (id === undefined) continue
      const state = this.#tree.resolve(sample, this.#fixed, present)
      if (state === null) {
        lostPoses += 1
        continue
      }
      const { position, orientation, velocity, spin } = state
      bodies.push({
        id,
        position,
        orientation,
        ...(velocity === null ? {} : { velocity }),
        ...(spin === null ? {} : { angular_velocity: spin }),
      })
    }
    return { bodies, lostPoses }
  }

  #takeContacts(first: bigint): object {
    if (this.#mapping.contacts.length === 0) return {}
    const { contacts } = this.#content
    const last = first + this.#mapping.tolerance
    const contactRows: object[] = []
    for (
      let next = this.#contactStamps.at(-1);
      next !== undefined && next <= last;
      next = this.#contactStamps.at(-1)
    ) {
      this.#contactStamps.pop()
      if (next < first) this.#lostContacts += 1
      else
        for (const contact of contacts.get(next) ?? [])
          contactRows.push(...toContacts(contact, (name) => this.#collisions.get(name)))
    }
    return { contacts: contactRows }
  }

  #findFixed(): number {
    const { frames } = this.#content
    const { fixedFrame } = this.#mapping
    const roots = new Map<number, number>()
    for (const frame of this.#tree.moving) {
      const root = this.#tree.findRoot(frame)
      roots.set(root, (roots.get(root) ?? 0) + 1)
    }
    const rankedRoots = [...roots].sort((a, b) => b[1] - a[1]).map(([root]) => root)
    const name = (frame: number | undefined) => frames.names[frame ?? -1] ?? ''
    const chosenFrame = fixedFrame === null ? rankedRoots[0] : frames.find(fixedFrame)
    if (chosenFrame === undefined)
      return rejectMapping(
        'fixed_frame',
        `a frame of the bag, such as ${rankedRoots.slice(0, 10).map(name).join(', ')}`,
      )
    if (rankedRoots.length > 1)
      this.notes.push(
        `frames below ${rankedRoots
          .filter((root) => root !== chosenFrame)
          .slice(0, 10)
          .map(name)
          .join(', ')} are not connected with ${name(chosenFrame)} and were left out`,
      )
    return chosenFrame
  }

  #declareRun(): object {
    const { frames } = this.#content
    const { bodies, run } = this.#mapping
    const declared: object[] = []
    for (const frame of this.#tree.moving) {
      const name = frames.names[frame] ?? ''
      if (bodies !== null && !Object.hasOwn(bodies, name)) continue
      if (this.#tree.findRoot(frame) !== this.#tree.findRoot(this.#fixed)) continue
      const id = this.#ids.size + 1
      this.#ids.set(frame, id)
      declared.push({ id, name: name.slice(0, 64), ...bodies?.[name] })
    }
    if (declared.length === 0)
      rejectMapping(
        'bodies',
        `frames that move, such as ${this.#tree.moving
          .slice(0, 20)
          .map((frame) => frames.names[frame])
          .join(', ')}`,
      )
    const hasContacts = this.#mapping.contacts.length > 0
    const fixed = hasContacts ? this.#declareCollisions() : []
    return {
      engine: 'ROS 2 bag',
      ...(hasContacts ? { lambda_unit: 'N' } : {}),
      ...run,
      bodies: [...declared, ...fixed],
    }
  }

  /** Assigns collisions of bodies without poses to the environment. */
  #declareCollisions(): readonly object[] {
    const { contacts, frames } = this.#content
    const { bodies = null } = this.#mapping
    const ids = new Map([...this.#ids].map(([frame, id]) => [frames.names[frame] ?? '', id]))
    const fixed = new Map<string, object>()
    for (const list of contacts.values())
      for (const { contacts: pairs } of list)
        for (const { collision1, collision2 } of pairs)
          for (const { name } of [collision1, collision2]) {
            if (this.#collisions.has(name)) continue
            const names = listBodyNames(name)
            const bodyName = names[0] ?? name
            let id = names.map((one) => ids.get(one)).find((one) => one !== undefined)
            if (id === undefined) {
              id = ids.size + 1
              ids.set(bodyName, id)
              const constants = names.map((one) => bodies?.[one]).find((one) => one !== undefined)
              fixed.set(bodyName, { id, name: bodyName.slice(0, 64), ...constants, is_environment: true })
            }
            this.#collisions.set(name, id)
          }
    if (fixed.size > 0)
      this.notes.push(
        `bodies of contacts without poses are fixed: ${[...fixed.keys()].slice(0, 20).join(', ')}`,
      )
    return [...fixed.values()]
  }

  #describe({
    frames,
    partial,
    unresolved,
    joined,
  }: Record<'frames' | 'partial' | 'unresolved' | 'joined', number>): void {
    const { names } = this.#content.frames
    this.notes.push(`positions are in the frame ${names[this.#fixed]}`)
    if (this.#origin.isRelative)
      this.notes.push('times are relative to the first stamp; wall_time has the stamps')
    if (partial > 0)
      this.notes.push(
        `${partial} of ${frames} frames lack bodies, whose messages have other stamps; nothing was resampled: set tolerance in seconds to join them`,
      )
    if (joined > 0) this.notes.push(`${joined} poses are at the time of another stamp, within the tolerance`)
    if (unresolved > 0)
      this.notes.push(
        `${unresolved} poses were left out, because the frames above had no transform of the same stamp`,
      )
    const lostCount = this.#lostContacts + this.#contactStamps.length
    if (lostCount > 0)
      this.notes.push(`${lostCount} contact messages were left out, because no pose has their stamp`)
    if (this.#mapping.contacts.length > 0)
      this.notes.push('frames without a contact message are taken as without contacts, as Gazebo sends them')
  }
}
