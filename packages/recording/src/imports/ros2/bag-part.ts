import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isCausewayError } from '@causeway/protocol'
import type { Call } from '@causeway/worker'
import { McapStreamReader, type McapTypes } from '@mcap/core'
import Database from 'better-sqlite3'
import { decompressHandlers, maxChunkBytes } from '../../formats/mcap/chunks.ts'
import { copyDatabase } from '../../library/copy.ts'
import { createDamageError, createLimitError } from '../tables/table.ts'

export interface BagTopic {
  readonly name: string
  /** Message type, such as `nav_msgs/msg/Odometry`. */
  readonly type: string
  readonly encoding: string
  /** Definition with its dependencies; null if the bag lacks it. */
  readonly definition: string | null
}

export interface BagMessage {
  readonly topic: BagTopic
  /** Log time in ns. */
  readonly logTime: bigint
  readonly data: Uint8Array
}

export interface PartResult {
  readonly isTruncated: boolean
}

export const maxTopics = 10_000

const messagesPerTurn = 256

/** Reads a truncated file up to its last complete chunk. */
export async function* readMcapPart(path: string, call: Call): AsyncGenerator<BagMessage, PartResult> {
  const reader = new McapStreamReader({ decompressHandlers })
  const schemas = new Map<number, McapTypes.TypedMcapRecords['Schema']>()
  const topics = new Map<number, BagTopic>()
  const { size } = await stat(path)
  let done = 0
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
      call.signal.throwIfAborted()
      done += (bytes as Buffer).length
      call.progress(done, Math.max(size, done), 'reading')
      if (reader.done()) throw new Error('the file continues after its end')
      reader.append(bytes as Buffer)
      for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
        if (record.type === 'Schema') schemas.set(record.id, record)
        else if (record.type === 'Channel')
          topics.set(record.id, toTopic(record, schemas.get(record.schemaId)))
        else if (record.type === 'Message') {
          const topic = topics.get(record.channelId)
          if (topic) yield { topic, logTime: record.logTime, data: record.data }
        }
        if (topics.size > maxTopics)
          throw createLimitError(`the bag has ${topics.size} topics`, maxTopics, path)
      }
      if (reader.bytesRemaining() > maxChunkBytes)
        throw createLimitError('a record of the file is too large in bytes', maxChunkBytes, path)
    }
  } catch (error) {
    throw call.signal.aborted || !isLibraryError(error)
      ? error
      : createDamageError(`the bag is damaged: ${error.message.trim()}`, path, error)
  }
  return { isTruncated: !reader.done() }
}

/** Whether a library threw the error. File system errors have a `syscall`. */
const isLibraryError = (error: unknown): error is Error =>
  error instanceof Error && !isCausewayError(error) && !('syscall' in error)

const decoder = new TextDecoder()

const toTopic = (
  { topic, messageEncoding }: McapTypes.TypedMcapRecords['Channel'],
  schema: McapTypes.TypedMcapRecords['Schema'] | undefined,
): BagTopic => ({
  name: topic,
  type: schema?.name ?? '',
  encoding: messageEncoding,
  definition: schema?.encoding === 'ros2msg' ? decoder.decode(schema.data) : null,
})

interface MessageRow {
  readonly rowid: bigint
  readonly topic_id: bigint
  readonly timestamp: bigint
  readonly data: Buffer
}

/** Reads a private copy of `path`. */
export async function* readSqlitePart(
  path: string,
  scratch: string,
  call: Call,
): AsyncGenerator<BagMessage, PartResult> {
  const copy = join(scratch, `${crypto.randomUUID()}.part`)
  await copyDatabase(path, copy, call)
  const db = new Database(copy, { readonly: true, fileMustExist: true })
  try {
    const topics = readTopics(db, path)
    const last = Number(db.prepare('SELECT max(rowid) FROM messages').pluck().get() ?? 0)
    let done = 0
    const rows = db.prepare<[], MessageRow>(
      'SELECT rowid, topic_id, timestamp, data FROM messages ORDER BY rowid',
    )
    for (const { rowid, topic_id, timestamp, data } of rows.safeIntegers().iterate()) {
      done += 1
      if (done % messagesPerTurn === 0) {
        // A cancellation message can arrive here.
        await nextTurn()
        call.signal.throwIfAborted()
        call.progress(Number(rowid), last, 'reading')
      }
      const topic = topics.get(Number(topic_id))
      if (topic && Buffer.isBuffer(data)) yield { topic, logTime: BigInt(timestamp), data }
    }
    return { isTruncated: false }
  } finally {
    db.close()
    await rm(copy, { force: true })
  }
}

/** Excludes views, which could run forever. */
function readTopics(db: Database.Database, path: string): ReadonlyMap<number, BagTopic> {
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'`)
    .pluck()
    .all()
  if (!tables.includes('topics') || !tables.includes('messages'))
    throw createDamageError('the database has no tables of a bag (topics and messages)', path)
  const definitions = new Map<string, string>()
  if (tables.includes('message_definitions')) {
    const rows = db.prepare<[], { topic_type: string; encoding: string; encoded_message_definition: string }>(
      `SELECT topic_type, encoding, encoded_message_definition FROM message_definitions WHERE encoding = 'ros2msg' LIMIT ${maxTopics + 1}`,
    )
    for (const { topic_type, encoded_message_definition } of rows.all())
      definitions.set(topic_type, String(encoded_message_definition))
  }
  const rows = db.prepare<[], { id: number; name: string; type: string; serialization_format: string }>(
    `SELECT id, name, type, serialization_format FROM topics LIMIT ${maxTopics + 1}`,
  )
  const topicRows = rows.all()
  if (topicRows.length > maxTopics) throw createLimitError('the bag has too many topics', maxTopics, path)
  return new Map(
    topicRows.map(({ id, name, type, serialization_format }) => {
      const definition = definitions.get(type)
      const topic = { name: String(name), type: String(type), encoding: String(serialization_format) }
      return [id, { ...topic, definition: definition ? definition : null }]
    }),
  )
}
