/** Tests of MCAP files from other writers: compression, foreign messages and damage. */
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { McapWriter } from '@mcap/core'
import t from 'tap'
import { encode } from '../../../recorders/js/messages.js'
import { verifies } from '../../../test/verifies.ts'
import { bodyMessage, runMessage } from '../src/formats/mcap/messages.ts'
import { folders, libraryOver } from './library-kit.ts'
import { streamLines } from './run-lines.ts'

t.setTimeout(60_000)

/** Writes an MCAP file with the MCAP library. */
async function writeMcap(
  file: string,
  messages: readonly { readonly schema: string; readonly data: Uint8Array }[],
  compression: 'zstd' | 'lz4' | '' = '',
): Promise<void> {
  const parts: Uint8Array[] = []
  let size = 0
  const writer = new McapWriter({
    writable: {
      position: () => BigInt(size),
      write: async (part) => {
        parts.push(Uint8Array.from(part))
        size += part.length
      },
    },
    ...(compression === ''
      ? {}
      : {
          compressChunk: (data: Uint8Array) => ({
            compression,
            compressedData: compression === 'zstd' ? zstdCompressSync(data) : data,
          }),
        }),
  })
  await writer.start({ profile: '', library: 'test' })
  const channels = new Map<string, number>()
  for (const { schema, data } of messages) {
    let channelId = channels.get(schema)
    if (channelId === undefined) {
      const schemaId = await writer.registerSchema({
        name: schema,
        encoding: 'protobuf',
        data: new Uint8Array(),
      })
      const channel = { topic: `/${schema}`, messageEncoding: 'protobuf', schemaId, metadata: new Map() }
      channelId = await writer.registerChannel(channel)
      channels.set(schema, channelId)
    }
    await writer.addMessage({ channelId, sequence: 0, logTime: 0n, publishTime: 0n, data })
  }
  await writer.end()
  writeFileSync(file, Buffer.concat(parts))
}

/** Encodes a Frame message with an id and packed positions. */
const frameBytes = (id: number, position: readonly number[]): Uint8Array =>
  new BinaryWriter()
    .tag(1, WireType.Varint)
    .uint64(id)
    .tag(4, WireType.LengthDelimited)
    .bytes(Uint8Array.of(1))
    .tag(5, WireType.LengthDelimited)
    .bytes(new Uint8Array(new Float64Array(position).buffer))
    .finish()

t.test('zstd chunks are read, and unknown fields and messages of other schemas are skipped', async (t) => {
  const { files, data } = folders(t)
  const unknown = Buffer.concat([
    frameBytes(2, [4, 5, 6]),
    new BinaryWriter().tag(1000, WireType.LengthDelimited).string('later').finish(),
  ])
  const messages = [
    { schema: 'causeway.v1.Frame', data: frameBytes(1, [1, 2, 3]) },
    { schema: 'foxglove.FrameTransforms', data: Uint8Array.of(255) },
    { schema: 'causeway.v1.Frame', data: unknown },
  ]
  await writeMcap(join(files, 'zstd.mcap'), messages, 'zstd')
  const library = await libraryOver(t, files, { dir: data })
  const { recording } = await library.open('zstd.mcap')
  t.match((await recording.frame(2)).states, [{ position: { x: 4, y: 5, z: 6 } }])
  t.equal(recording.summary.frames?.total_frames, 2)
})

verifies('recording:files:damage', async (t) => {
  const { files, data } = folders(t)
  const frame = (bytes: Uint8Array) => [{ schema: 'causeway.v1.Frame', data: bytes }]
  await writeMcap(join(files, 'foreign.mcap'), [{ schema: 'sensor_msgs/msg/Imu', data: Uint8Array.of(1) }])
  await writeMcap(join(files, 'lz4.mcap'), frame(frameBytes(1, [1, 2, 3])), 'lz4')
  await writeMcap(join(files, 'short.mcap'), frame(frameBytes(1, [1, 2])))
  await writeMcap(join(files, 'varint.mcap'), frame(Uint8Array.of(8, 255)))
  await writeMcap(join(files, 'good.mcap'), frame(frameBytes(1, [1, 2, 3])))
  const flipped = readFileSync(join(files, 'good.mcap'))
  const at = flipped.indexOf(Buffer.from(frameBytes(1, [1, 2, 3])))
  flipped[at + 8] = 77
  writeFileSync(join(files, 'crc.mcap'), flipped)
  const endless = Buffer.concat([
    readFileSync(join(files, 'good.mcap')).subarray(0, 8),
    Buffer.alloc(9, 0xff),
  ])
  endless[8] = 6
  writeFileSync(join(files, 'endless.mcap'), endless)
  copyFileSync(join(files, 'good.mcap'), join(files, 'twice.mcap'))
  appendFileSync(join(files, 'twice.mcap'), readFileSync(join(files, 'good.mcap')))
  const library = await libraryOver(t, files, { dir: data })
  const expected: Record<string, { code: string; message?: RegExp; data?: object }> = {
    'foreign.mcap': { code: 'NOT_A_RECORDING', data: { schemas: ['sensor_msgs/msg/Imu'] } },
    'lz4.mcap': { code: 'INVALID_FRAME', message: /Unsupported compression lz4/ },
    'short.mcap': { code: 'INVALID_FRAME', data: { path: 'position', line: 1 } },
    'varint.mcap': { code: 'INVALID_FRAME', message: /^message 1: / },
    'crc.mcap': { code: 'INVALID_FRAME', message: /Incorrect chunk CRC/ },
    'endless.mcap': { code: 'INVALID_FRAME' },
    'twice.mcap': { code: 'INVALID_FRAME' },
  }
  for (const [name, error] of Object.entries(expected)) await t.rejects(library.open(name), error, name)
  const { recording } = await library.open('good.mcap')
  t.equal(recording.summary.frames?.total_frames, 1)
})

t.test('write records an MCAP stream in small parts and ignores repeated frames', async (t) => {
  const { files, data } = folders(t)
  const frames = [1, 2, 3].map((id) => ({ schema: 'causeway.v1.Frame', data: frameBytes(id, [0, 0, id]) }))
  await writeMcap(join(files, 'run.mcap'), frames)
  const { recorder } = await libraryOver(t, files, { dir: data })
  const bytes = readFileSync(join(files, 'run.mcap'))
  const parts = async function* () {
    for (let at = 0; at < bytes.length; at += 37) yield Uint8Array.from(bytes.subarray(at, at + 37))
  }
  t.match(await recorder.write('run', parts()), { accepted: 3, ignored: 0, last_frame_id: 3 })
  t.match(await recorder.write('run', parts()), { accepted: 0, ignored: 3, last_frame_id: 3 })
  t.match(await recorder.finish('run'), { status: 'finished', total_frames: 3 })
})

t.test('MCAP and the JavaScript recorder have all members of the run line', async (t) => {
  const { files, data } = folders(t)
  const { recorder } = await libraryOver(t, files, { dir: data })
  /** Returns the members that the error for an unknown member lists. */
  const listMembers = async (run: object): Promise<readonly string[]> => {
    const error = await recorder.write('run', streamLines([JSON.stringify({ run })])).catch((error) => error)
    t.match(error, { code: 'INVALID_FRAME', data: { path: 'unknown' } })
    return error.data.expected
  }
  const runMembers = await listMembers({ unknown: 1 })
  const bodyMembers = await listMembers({ bodies: [{ id: 1, unknown: 1 }] })
  const proto = readFileSync(new URL('../../../recorders/causeway.proto', import.meta.url), 'utf8')
  for (const [name, table, members] of [
    ['Run', runMessage, runMembers],
    // Only databases of the C++ engine have assets.
    ['Body', bodyMessage, bodyMembers.filter((member) => member !== 'asset_id')],
  ] as const) {
    const expected = members.toSorted()
    const [, text = ''] = new RegExp(`message ${name} \\{([^}]*)\\}`).exec(proto) ?? []
    const declared = [...text.matchAll(/^ {2}\w+ \w+ (\w+) =/gm)].map(([, member]) => member)
    t.same(declared.toSorted(), expected, `${name} in causeway.proto`)
    const decoded = Object.values(table).map(([member]) => member)
    t.same(decoded.toSorted(), expected, `${name} of the reader`)
    t.throws(() => encode(name, { unknown: 1 }), {
      message: `${name} has no member unknown; its members: ${decoded.join(', ')}`,
    })
  }
})
