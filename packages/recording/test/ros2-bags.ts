/** Writes small ROS 2 bags with metadata, as MCAP or SQLite. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@foxglove/rosmsg'
import { MessageWriter } from '@foxglove/rosmsg2-serialization'
import { McapWriter } from '@mcap/core'
import Database from 'better-sqlite3'
import { findDefinition } from '../src/imports/ros2/message-definitions.ts'

export interface RosMessage {
  readonly topic: string
  /** Message type, such as `tf2_msgs/msg/TFMessage`. */
  readonly type: string
  /** Log time in ns. */
  readonly logTime: bigint
  readonly value: unknown
}

const writers = new Map<string, MessageWriter>()

function encode({ type, value }: RosMessage): Uint8Array {
  const writer = writers.get(type) ?? new MessageWriter(parse(findDefinition(type) ?? '', { ros2: true }))
  writers.set(type, writer)
  return writer.writeMessage(value)
}

export async function writeMcapBag(
  file: string,
  messages: readonly RosMessage[],
  { hasSchemas = true }: { readonly hasSchemas?: boolean } = {},
): Promise<void> {
  const parts: Uint8Array[] = []
  let size = 0
  const writable = {
    position: () => BigInt(size),
    write: async (part: Uint8Array) => {
      parts.push(Uint8Array.from(part))
      size += part.length
    },
  }
  const writer = new McapWriter({ writable, chunkSize: 8192 })
  await writer.start({ profile: 'ros2', library: 'test' })
  const channels = new Map<string, number>()
  for (const message of messages) {
    const { topic, type, logTime } = message
    let channelId = channels.get(topic)
    if (channelId === undefined) {
      const text = hasSchemas ? (findDefinition(type) ?? '') : ''
      const encoding = hasSchemas ? 'ros2msg' : ''
      const schemaId = await writer.registerSchema({
        name: type,
        encoding,
        data: new TextEncoder().encode(text),
      })
      channelId = await writer.registerChannel({
        topic,
        messageEncoding: 'cdr',
        schemaId,
        metadata: new Map(),
      })
      channels.set(topic, channelId)
    }
    await writer.addMessage({ channelId, sequence: 0, logTime, publishTime: logTime, data: encode(message) })
  }
  await writer.end()
  writeFileSync(file, Buffer.concat(parts))
}

export function writeSqliteBag(file: string, messages: readonly RosMessage[]): void {
  const db = new Database(file)
  db.exec(`
    CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
      serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
    CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE INDEX timestamp_idx ON messages (timestamp ASC);
  `)
  const names = [...new Set(messages.map(({ topic }) => topic))]
  const addTopic = db.prepare(`INSERT INTO topics VALUES (?, ?, ?, 'cdr', '')`)
  for (const [i, name] of names.entries())
    addTopic.run(i + 1, name, messages.find(({ topic }) => topic === name)?.type)
  const add = db.prepare('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)')
  db.transaction(() => {
    for (const message of messages)
      add.run(names.indexOf(message.topic) + 1, message.logTime, encode(message))
  })()
  db.close()
}

/** Writes the metadata file of a bag with these files, in the style of rosbag2's releases. */
export function writeMetadata(folder: string, files: readonly string[], storage: 'mcap' | 'sqlite3'): void {
  writeFileSync(
    join(folder, 'metadata.yaml'),
    `rosbag2_bagfile_information:
  version: 5
  storage_identifier: ${storage}
  relative_file_paths:
${files.map((file) => `    - ${file}`).join('\n')}
  duration:
    nanoseconds: 411
  compression_format: ""
  compression_mode: ""
`,
  )
}

export const toStamp = (nanoseconds: bigint) => ({
  sec: Number(nanoseconds / 1_000_000_000n),
  nanosec: Number(nanoseconds % 1_000_000_000n),
})

export const toXyz = ([x = 0, y = 0, z = 0]: readonly number[]) => ({ x, y, z })
