/** Reads `causeway.v1` messages from an MCAP stream (https://mcap.dev/spec). */
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import { McapStreamReader, type McapTypes } from '@mcap/core'
import { RecordingError } from '../../errors.ts'
import type { FrameSource } from '../frame-source.ts'
import { createFrameReader, type Line } from '../lines/line-reader.ts'
import type { RunContext } from '../lines/run-line.ts'
import { decompressHandlers, maxChunkBytes } from './chunks.ts'
import { decodeMessage, frameMessage, runMessage } from './messages.ts'
import { toFrameLine, toRunLine } from './to-line.ts'

const maxMessageBytes = 16 * 1024 ** 2

const createInvalidError = (message: string, cause?: unknown): CausewayError =>
  new RecordingError('INVALID_FRAME', message, {
    remedy: 'record again with a recorder of Causeway, or correct the recorder',
    data: { path: '', expected: 'an MCAP stream with messages of causeway.v1' },
    ...(cause === undefined ? {} : { cause }),
  })

const schemaNames = ['causeway.v1.Run', 'causeway.v1.Frame'] as const
type KnownSchema = (typeof schemaNames)[number]
const isKnownSchema = (name: string | undefined): name is KnownSchema =>
  schemaNames.some((schemaName) => schemaName === name)

export class McapFrames implements FrameSource {
  readonly unit = 'message'
  readonly #context: RunContext
  readonly #readLine: (line: object) => Line
  readonly #reader = new McapStreamReader({ decompressHandlers })
  readonly #schemas = new Map<number, string>()
  /** Schema names by channel. */
  readonly #channels = new Map<number, string>()
  #count = 0

  constructor(context: RunContext) {
    this.#context = context
    this.#readLine = createFrameReader(context)
  }

  get count(): number {
    return this.#count
  }

  get isTruncated(): boolean {
    return !this.#reader.done()
  }

  *push(bytes: Uint8Array): Generator<Line> {
    this.#append(bytes)
    for (let record = this.#next(); record !== undefined; record = this.#next()) {
      const line = this.#readRecord(record)
      if (line !== undefined) yield line
    }
    if (this.#reader.bytesRemaining() > maxChunkBytes)
      throw createInvalidError(`a record of the stream has more than ${maxChunkBytes} bytes`)
  }

  /** Ignores an incomplete last chunk. Throws `NOT_A_RECORDING` if no channel has a causeway.v1 schema. */
  end(): readonly Line[] {
    if ([...this.#channels.values()].some(isKnownSchema)) return []
    const schemas = [...this.#schemas.values()].slice(0, 20)
    throw new RecordingError('NOT_A_RECORDING', 'the MCAP stream has no messages of causeway.v1', {
      remedy: 'record with a recorder of Causeway; docs/recorders.md describes the format',
      data: { schemas },
    })
  }

  #append(bytes: Uint8Array): void {
    if (this.#reader.done()) throw createInvalidError('the stream continues after its end')
    this.#reader.append(bytes)
  }

  #next(): McapTypes.TypedMcapRecord | undefined {
    try {
      return this.#reader.nextRecord()
    } catch (error) {
      throw createInvalidError(`the MCAP stream is damaged: ${(error as Error).message.trim()}`, error)
    }
  }

  #readRecord(record: McapTypes.TypedMcapRecord): Line | undefined {
    if (record.type === 'Schema') this.#schemas.set(record.id, record.name)
    else if (record.type === 'Channel') {
      const schema = this.#schemas.get(record.schemaId) ?? ''
      this.#channels.set(record.id, record.messageEncoding === 'protobuf' ? schema : '')
    } else if (record.type === 'Message') return this.#readMessage(record)
    return undefined
  }

  /** Skips messages that are not of causeway.v1, such as poses for viewers. */
  #readMessage({ channelId, data }: McapTypes.TypedMcapRecords['Message']): Line | undefined {
    const schema = this.#channels.get(channelId)
    if (!isKnownSchema(schema)) return undefined
    this.#count += 1
    if (data.byteLength > maxMessageBytes)
      throw createInvalidError(`the message has ${data.byteLength} bytes, more than ${maxMessageBytes}`)
    return this.#readLine(this.#decode(schema, data))
  }

  #decode(schema: KnownSchema, data: Uint8Array): object {
    try {
      if (schema === 'causeway.v1.Run') return toRunLine(decodeMessage(data, runMessage))
      const movingBodies = [...this.#context.bodies.values()].filter(({ isEnvironment }) => !isEnvironment)
      return toFrameLine(
        decodeMessage(data, frameMessage),
        movingBodies.map(({ id }) => id),
      )
    } catch (error) {
      if (isCausewayError(error)) throw error
      throw createInvalidError(`the message is not a valid ${schema}: ${(error as Error).message}`, error)
    }
  }
}
