/** Records a physics simulation to an MCAP file that Causeway diagnoses. */
import { crc32 } from '@foxglove/crc'
import { McapChunkBuilder, McapRecordBuilder } from '@mcap/core'
import { toContactColumns, toJointColumns } from './columns.js'
import { descriptor } from './descriptor.js'
import { encode } from './messages.js'
import { findProvenance } from './provenance.js'

const chunkBytes = 256 * 1024
const chunkMs = 1000

const channels = [
  { id: 1, topic: '/causeway/run', schema: 'causeway.v1.Run' },
  { id: 2, topic: '/causeway/frame', schema: 'causeway.v1.Frame' },
]
const [runChannel, frameChannel] = [1, 2]

/**
 * @typedef {object} Constants
 * @property {string} [engine] name and version
 * @property {number} [dt] time step, s
 * @property {readonly number[]} [gravity] m/s², 3 numbers
 * @property {'N·s' | 'N'} [lambda_unit] whether contact impulses are impulses or forces
 * @property {readonly object[]} [bodies] `id`, and optionally `mass`, `inertia`, `shape`, `is_environment` and others
 * @property {object} [convention] axes and orders of the engine: `{up, handedness, quaternion, normal}`
 * @property {number} [substeps] steps of the engine per frame, if only the last has contacts
 * @property {string} [commit] of the simulated project. Default of this and the following: what `findProvenance` finds
 * @property {string} [branch]
 * @property {string} [scenario]
 * @property {number} [seed]
 * @property {readonly string[]} [tags]
 * @property {string} [host]
 * @property {string} [engine_version]
 */

/**
 * Writes frames to a sink, a function that receives the bytes of the file in order: `(bytes) => fs.writeSync(file, bytes)`, or
 * `(bytes) => parts.push(bytes)` for a `Blob` in a browser. An error of the sink does not stop the simulation: it is reported once by
 * `onError`, and later frames are ignored.
 */
export class Recorder {
  #write
  #onError
  #dt
  #convention
  #frameId = 0
  #sequence = 0
  #offset = 0n
  /** Reused for every chunk: their buffers have grown to its size. */
  #chunk = new McapChunkBuilder({})
  #records = new McapRecordBuilder()
  #flushedAt = performance.now()
  #chunkIndexes = []
  #counts = new Map(channels.map(({ id }) => [id, 0n]))
  #isOpen = true

  /**
   * @param {(bytes: Uint8Array) => void} write
   * @param {Constants} constants
   * @param {{ onError?: (error: unknown) => void }} [options]
   */
  constructor(
    write,
    constants,
    { onError = (error) => console.warn(`The run is not recorded: ${error}`) } = {},
  ) {
    this.#write = write
    this.#onError = onError
    this.#dt = constants.dt
    this.#convention = constants.convention
    const run = encode('Run', { ...findProvenance(), ...constants })
    this.#put((records) => {
      records.writeMagic()
      records.writeHeader({ profile: '', library: 'causeway-recorder' })
      writeChannels(records)
    })
    this.#add(runChannel, 0, run)
  }

  /** Adds bodies that appear during the run, before their first frame. */
  addBodies(bodies) {
    this.#add(
      runChannel,
      (this.#frameId + 1) * (this.#dt ?? 0),
      encode('Run', { convention: this.#convention, bodies }),
    )
  }

  /**
   * Records the state after a step. Members are those of `Frame` in causeway.proto; `contacts` may replace the columns of contacts:
   * objects with `a`, `b` and optionally `point`, `normal`, `depth`, `tangent1`, `tangent2`, `friction`, `restitution`, `normal_impulse`,
   * `tangent1_impulse` and `tangent2_impulse`. An empty list: nothing touches. `joints` may replace the columns of joints: objects with
   * `a`, `b` and optionally `kind`, `point`, `impulse`, `torque` and `position_error`. Throws `TypeError` for an unknown member.
   *
   * @param {Record<string, any>} frame
   */
  frame({ contacts, joints, ...columns }) {
    const frame_id = columns.frame_id ?? this.#frameId + 1
    const time = columns.time ?? (this.#dt === undefined ? undefined : frame_id * this.#dt)
    const rows = { ...toContactColumns(contacts), ...toJointColumns(joints) }
    const message = encode('Frame', { ...columns, frame_id, time, ...rows })
    this.#frameId = frame_id
    this.#add(frameChannel, time, message)
  }

  /** Writes the frames so far. */
  flush() {
    if (this.#chunk.numMessages === 0) return
    const chunk = this.#chunk
    const { messageStartTime, messageEndTime, buffer } = chunk
    const start = this.#offset
    let length = 0n
    const messageIndexOffsets = new Map()
    this.#put((records) => {
      const size = BigInt(buffer.length)
      length = records.writeChunk({
        messageStartTime,
        messageEndTime,
        uncompressedSize: size,
        uncompressedCrc: crc32(buffer),
        compression: '',
        records: buffer,
      })
      for (const index of chunk.indices) {
        messageIndexOffsets.set(index.channelId, start + BigInt(records.length))
        records.writeMessageIndex(index)
      }
      this.#chunkIndexes.push({
        messageStartTime,
        messageEndTime,
        chunkStartOffset: start,
        chunkLength: length,
        messageIndexOffsets,
        messageIndexLength: BigInt(records.length) - length,
        compression: '',
        compressedSize: size,
        uncompressedSize: size,
      })
    })
    chunk.reset()
    this.#flushedAt = performance.now()
  }

  /** Completes the file. Frames can no longer be recorded. */
  close() {
    if (!this.#isOpen) return
    this.flush()
    this.#put((records) => {
      records.writeDataEnd({ dataSectionCrc: 0 })
      const summaryStart = this.#offset + BigInt(records.length)
      writeChannels(records)
      records.writeStatistics(this.#getStatistics())
      for (const index of this.#chunkIndexes) records.writeChunkIndex(index)
      records.writeFooter({ summaryStart, summaryOffsetStart: 0n, summaryCrc: 0 })
      records.writeMagic()
    })
    this.#isOpen = false
  }

  #add(channelId, time, data) {
    if (!this.#isOpen) return
    const logTime = Number.isFinite(time) ? BigInt(Math.max(0, Math.round(time * 1e9))) : 0n
    this.#sequence += 1
    this.#chunk.addMessage({ channelId, sequence: this.#sequence, logTime, publishTime: logTime, data })
    this.#counts.set(channelId, (this.#counts.get(channelId) ?? 0n) + 1n)
    const isDue = performance.now() - this.#flushedAt >= chunkMs
    if (this.#chunk.byteLength >= chunkBytes || isDue) this.flush()
  }

  #put(build) {
    if (!this.#isOpen) return
    const records = this.#records
    records.reset()
    build(records)
    const bytes = records.buffer
    try {
      this.#write(bytes)
    } catch (error) {
      this.#isOpen = false
      this.#onError(error)
    }
    this.#offset += BigInt(bytes.length)
  }

  #getStatistics() {
    const times = this.#chunkIndexes.flatMap((index) => [index.messageStartTime, index.messageEndTime])
    const sorted = times.sort((a, b) => (a < b ? -1 : 1))
    return {
      messageCount: BigInt(this.#sequence),
      schemaCount: channels.length,
      channelCount: channels.length,
      attachmentCount: 0,
      metadataCount: 0,
      chunkCount: this.#chunkIndexes.length,
      messageStartTime: sorted[0] ?? 0n,
      messageEndTime: sorted.at(-1) ?? 0n,
      channelMessageCounts: this.#counts,
    }
  }
}

function writeChannels(records) {
  const data = Uint8Array.from(atob(descriptor), (character) => character.charCodeAt(0))
  for (const { id, topic, schema } of channels) {
    records.writeSchema({ id, name: schema, encoding: 'protobuf', data })
    records.writeChannel({ id, schemaId: id, topic, messageEncoding: 'protobuf', metadata: new Map() })
  }
}
