import { parse } from '@foxglove/rosmsg'
import { MessageReader } from '@foxglove/rosmsg2-serialization'
import { createDamageError } from '../tables/table.ts'
import type { BagMessage, BagTopic } from './bag-part.ts'
import { findDefinition } from './message-definitions.ts'

export interface Triple {
  readonly x: number
  readonly y: number
  readonly z: number
}

export interface Rotation extends Triple {
  readonly w: number
}

export interface Header {
  readonly stamp: { readonly sec: number; readonly nanosec: number }
  readonly frame_id: string
}

export interface TransformStamped {
  readonly header: Header
  readonly child_frame_id: string
  readonly transform: { readonly translation: Triple; readonly rotation: Rotation }
}

export interface Odometry {
  readonly header: Header
  readonly child_frame_id: string
  readonly pose: { readonly pose: { readonly position: Triple; readonly orientation: Rotation } }
  /** Velocities in the child frame. */
  readonly twist: { readonly twist: { readonly linear: Triple; readonly angular: Triple } }
}

export interface PoseStamped {
  readonly header: Header
  readonly pose: { readonly position: Triple; readonly orientation: Rotation }
}

export interface GazeboContact {
  readonly collision1: { readonly name: string }
  readonly collision2: { readonly name: string }
  readonly positions: readonly Triple[]
  /** Directions of the force on the first body, in the world frame. */
  readonly normals: readonly Triple[]
  readonly depths: ArrayLike<number>
  readonly wrenches: readonly { readonly body_1_wrench: { readonly force: Triple } }[]
}

export interface Contacts {
  readonly header: Header
  readonly contacts: readonly GazeboContact[]
}

type PoseMessage =
  | { readonly kind: 'transforms'; readonly transforms: readonly TransformStamped[] }
  | { readonly kind: 'odometry'; readonly odometry: Odometry }
  | { readonly kind: 'pose'; readonly pose: PoseStamped }
  | { readonly kind: 'contacts'; readonly contacts: Contacts }

export type Kind = PoseMessage['kind'] | 'joints'

const kinds: Readonly<Record<string, Kind>> = {
  'tf2_msgs/msg/TFMessage': 'transforms',
  'nav_msgs/msg/Odometry': 'odometry',
  'geometry_msgs/msg/PoseStamped': 'pose',
  'geometry_msgs/msg/TransformStamped': 'transforms',
  'ros_gz_interfaces/msg/Contacts': 'contacts',
  'sensor_msgs/msg/JointState': 'joints',
}

export const findKind = ({ type, encoding }: BagTopic): Kind | undefined =>
  encoding === 'cdr' ? kinds[type] : undefined

/** Definitions of known message types are shorter than 3 kB. */
const maxDefinitionLength = 256 * 1024

export class MessageDecoder {
  readonly #readers = new Map<BagTopic, MessageReader>()
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Returns undefined for joint states. */
  decode({ topic, data }: BagMessage): PoseMessage | undefined {
    const kind = findKind(topic)
    if (kind === undefined || kind === 'joints') return undefined
    const value = this.#read(topic, data)
    switch (kind) {
      case 'transforms': {
        const { transforms } = value as { readonly transforms?: readonly TransformStamped[] }
        return { kind, transforms: transforms ?? [value as TransformStamped] }
      }
      case 'odometry':
        return { kind, odometry: value as Odometry }
      case 'pose':
        return { kind, pose: value as PoseStamped }
      case 'contacts':
        return { kind, contacts: value as Contacts }
    }
  }

  #read(topic: BagTopic, data: Uint8Array): unknown {
    try {
      let reader = this.#readers.get(topic)
      if (reader === undefined) {
        const definition = topic.definition ?? findDefinition(topic.type) ?? ''
        if (definition.length > maxDefinitionLength) throw new RangeError('its definition is too long')
        reader = new MessageReader(parse(definition, { ros2: true }))
        this.#readers.set(topic, reader)
      }
      return reader.readMessage(data)
    } catch (error) {
      const { message } = error as Error
      throw createDamageError(
        `a message of ${topic.name} is not a valid ${topic.type}: ${message}`,
        this.#path,
        error,
      )
    }
  }
}
