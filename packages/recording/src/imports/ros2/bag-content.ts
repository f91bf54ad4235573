import type { Pose } from '../../domain/imports/rigid-transform.ts'
import { RecordingError } from '../../errors.ts'
import { createLimitError } from '../tables/table.ts'
import { type BagMapping, trimFrame } from './bag-mapping.ts'
import { type BagMessage, type BagTopic, maxTopics } from './bag-part.ts'
import { FrameNames } from './frame-tree.ts'
import {
  type Contacts,
  findKind,
  type Header,
  MessageDecoder,
  type Rotation,
  type TransformStamped,
  type Triple,
} from './messages.ts'
import { PoseSamples } from './pose-samples.ts'

const maxFrames = 10_000
const maxContactPoints = 1_000_000

interface StaticTransform {
  readonly child: number
  readonly parent: number
  readonly pose: Pose
}

export class BagContent {
  readonly frames = new FrameNames()
  readonly samples: PoseSamples
  readonly staticTransforms: StaticTransform[] = []
  readonly contacts = new Map<bigint, Contacts[]>()
  readonly #path: string
  readonly #mapping: BagMapping
  readonly #decoder: MessageDecoder
  readonly #topics = new Map<string, { readonly topic: BagTopic; messages: number }>()
  #points = 0
  #logTimes = 0

  constructor(path: string, mapping: BagMapping) {
    this.#path = path
    this.#mapping = mapping
    this.samples = new PoseSamples(path)
    this.#decoder = new MessageDecoder(path)
  }

  count(topic: BagTopic): void {
    const entry = this.#topics.get(topic.name) ?? { topic, messages: 0 }
    entry.messages += 1
    this.#topics.set(topic.name, entry)
    if (this.#topics.size > maxTopics)
      throw createLimitError('the bag has too many topics', maxTopics, this.#path)
  }

  get notes(): readonly string[] {
    const topics = [...this.#topics.values()]
    const skippedTopics = topics.filter(({ topic }) => findKind(topic) === undefined)
    const listTopics = (kind: string) => topics.filter(({ topic }) => findKind(topic) === kind)
    const unusedContacts = listTopics('contacts').filter(
      ({ topic }) => !this.#mapping.contacts.includes(topic.name),
    )
    return [
      ...(this.#logTimes > 0
        ? [`${this.#logTimes} messages have no stamp: the time of the log was used`]
        : []),
      ...listTopics('joints').map(
        ({ topic, messages }) =>
          `${messages} joint states of ${topic.name} were left out: a recording has poses of bodies`,
      ),
      ...unusedContacts.map(
        ({ topic, messages }) =>
          `${messages} messages of ${topic.name} were left out: add it to contacts of the mapping if its sensors see every contact of the bodies`,
      ),
      ...(skippedTopics.length === 0
        ? []
        : [
            `topics without poses were left out: ${skippedTopics
              .slice(0, 20)
              .map(({ topic }) => `${topic.name} (${topic.type})`)
              .join(', ')}`,
          ]),
    ]
  }

  /** Throws `NOT_A_RECORDING` if no message has a pose. */
  requirePoses(): void {
    if (this.samples.count > 0) return
    const topics = [...this.#topics.values()]
      .slice(0, 100)
      .map(({ topic, messages }) => ({ name: topic.name, type: topic.type, messages }))
    throw new RecordingError('NOT_A_RECORDING', `the bag has no poses of moving bodies: ${this.#path}`, {
      remedy: 'record /tf, odometry or poses; data.topics lists what the bag has',
      data: { path: this.#path, topics },
    })
  }

  add(message: BagMessage): void {
    const decoded = this.#decoder.decode(message)
    switch (decoded?.kind) {
      case 'transforms':
        for (const transform of decoded.transforms) this.#addTransform(transform, message)
        return
      case 'odometry': {
        const { header, child_frame_id, pose, twist } = decoded.odometry
        const child = this.#addFrame(child_frame_id)
        const { linear, angular } = twist.twist
        this.#addSample(header, child, message, [
          ...toNumbers(pose.pose.position, pose.pose.orientation),
          ...toTriple(linear),
          ...toTriple(angular),
        ])
        return
      }
      case 'pose': {
        const { header, pose } = decoded.pose
        this.#addSample(
          header,
          this.#addFrame(message.topic.name),
          message,
          toNumbers(pose.position, pose.orientation),
        )
        return
      }
      case 'contacts':
        if (this.#mapping.contacts.includes(message.topic.name)) this.#addContacts(decoded.contacts, message)
    }
  }

  #addTransform({ header, child_frame_id, transform }: TransformStamped, message: BagMessage): void {
    const child = this.#addFrame(child_frame_id)
    const numbers = toNumbers(transform.translation, transform.rotation)
    if (!/(^|\/)tf_static$/.test(message.topic.name)) {
      this.#addSample(header, child, message, numbers)
      return
    }
    const [x = 0, y = 0, z = 0, a = 1, b = 0, c = 0, d = 0] = numbers
    const parent = this.#addFrame(header.frame_id)
    this.staticTransforms.push({ child, parent, pose: { position: [x, y, z], orientation: [a, b, c, d] } })
    if (this.staticTransforms.length > maxFrames)
      throw createLimitError('the bag has too many static transforms', maxFrames, this.#path)
  }

  #addSample(header: Header, child: number, { logTime }: BagMessage, numbers: readonly number[]): void {
    const values = [...numbers, ...new Array<number>(13 - numbers.length).fill(Number.NaN)]
    const parent = this.#addFrame(header.frame_id)
    this.samples.add({ stamp: this.#toStamp(header, logTime), parent, child, numbers: values })
  }

  #addContacts(contacts: Contacts, { logTime }: BagMessage): void {
    for (const { positions } of contacts.contacts) this.#points += positions.length
    if (this.#points > maxContactPoints)
      throw createLimitError('the bag has too many contact points', maxContactPoints, this.#path)
    const stamp = this.#toStamp(contacts.header, logTime)
    this.contacts.set(stamp, [...(this.contacts.get(stamp) ?? []), contacts])
  }

  #toStamp({ stamp: { sec, nanosec } }: Header, logTime: bigint): bigint {
    if (sec !== 0 || nanosec !== 0) return BigInt(sec) * 1_000_000_000n + BigInt(nanosec)
    this.#logTimes += 1
    return logTime
  }

  #addFrame(name: string): number {
    const frame = this.frames.add(trimFrame(name))
    if (frame >= maxFrames)
      throw createLimitError('the bag has too many coordinate frames', maxFrames, this.#path)
    return frame
  }
}

const toTriple = ({ x, y, z }: Triple): readonly number[] => [x, y, z]

const toNumbers = (position: Triple, { w, x, y, z }: Rotation): readonly number[] => [
  ...toTriple(position),
  w,
  x,
  y,
  z,
]
