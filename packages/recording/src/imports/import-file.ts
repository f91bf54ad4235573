import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isCausewayError, reviseError } from '@causeway/protocol'
import type { Call } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { findCompression } from '../formats/create-source.ts'
import { createFrameReader } from '../formats/lines/line-reader.ts'
import { openRunWriter } from '../recorder/run-writer.ts'
import { findFormat } from './formats.ts'
import type { Source } from './source.ts'

interface ImportOptions {
  /** Mapping as JSON; undefined if none is known. */
  readonly mapping: string | undefined
  readonly scratch: string
}

/** Maximum time between cancellation checks, in ms. */
const sliceMs = 20

const headBytes = 4096

/** Imports a file of another tool. Returns notes about what was omitted or decided. */
export async function importFile(
  path: string,
  target: string,
  { mapping, scratch }: ImportOptions,
  call: Call,
): Promise<readonly string[]> {
  const head = await readHead(path)
  const format = findFormat(head, path)
  if (format === undefined)
    throw new RecordingError('NOT_A_RECORDING', `the format of the file is not known: ${path}`, {
      remedy: 'give a ROS 2 bag, or a CSV, Parquet, npz or HDF5 file',
      ...findCompression(head),
      data: { path },
    })
  const source = await (await format.load())(path, { scratch }, call)
  try {
    if (mapping === undefined && source.needsMapping) throw await createMappingNeededError(source, path, call)
    await writeRun(source, { mapping: parseMapping(mapping), path, target }, call)
    return source.notes
  } finally {
    await source.close()
  }
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if ((await file.stat()).isDirectory()) return new Uint8Array()
    const { buffer, bytesRead } = await file.read(new Uint8Array(headBytes), 0, headBytes, 0)
    if (bytesRead === 0)
      throw new RecordingError('NOT_A_RECORDING', `the file is empty: ${path}`, { data: { path } })
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function parseMapping(mapping: string | undefined): unknown {
  if (mapping === undefined) return undefined
  try {
    return JSON.parse(mapping)
  } catch (cause) {
    throw new RecordingError(
      'INVALID_MAPPING',
      `the mapping is not valid JSON: ${(cause as Error).message}`,
      {
        remedy: 'correct the mapping next to the file, or pass one to import_recording',
        data: { path: '' },
        cause,
      },
    )
  }
}

async function createMappingNeededError(source: Source, path: string, call: Call) {
  const { notes, ...description } = await source.describe(call)
  return new RecordingError('MAPPING_NEEDED', `the ${description.format} file has no mapping: ${path}`, {
    data: { path, ...description, notes },
  })
}

async function writeRun(
  source: Source,
  { mapping, path, target }: { readonly mapping: unknown; readonly path: string; readonly target: string },
  call: Call,
): Promise<void> {
  const writer = openRunWriter(target, Date.now())
  try {
    const readLine = createFrameReader(writer.context)
    let sliceStart = performance.now()
    for await (const line of source.frames(mapping, call)) {
      writer.add(readLine(line), Date.now())
      if (performance.now() - sliceStart < sliceMs) continue
      // A cancellation message can arrive here.
      await nextTurn()
      call.signal.throwIfAborted()
      sliceStart = performance.now()
    }
    if (writer.flush(Date.now()).total_frames === 0)
      throw new RecordingError('NOT_A_RECORDING', `the file has no frames: ${path}`, {
        remedy: 'give a file with at least one row or message of a body',
        data: { path },
      })
    writer.setStatus(source.isTruncated ? 'interrupted' : 'finished', Date.now())
  } catch (error) {
    throw reviseLineError(error)
  } finally {
    writer.close()
  }
}

/** Attributes errors of the run line to the constants of the mapping. */
function reviseLineError(error: unknown): unknown {
  if (!isCausewayError(error) || !RecordingError.is(error, 'INVALID_FRAME', 'FRAME_CONFLICT')) return error
  if (!String(error.data.path ?? '').startsWith('run')) return error
  return reviseError(error, { remedy: 'correct the member in the mapping' })
}
