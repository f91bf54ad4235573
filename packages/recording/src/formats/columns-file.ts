/**
 * Columns of a recording, stored next to its private copy. Layout, in native byte order: window blocks, aligned to 8
 * bytes; an index of the windows; the trailer.
 */
import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import type { ReadWindow } from '../reader/cpp/window-reader.ts'
import type { BodyId } from '../types.ts'
import type { FrameWindow } from './frame-window.ts'
import { countWindowBytes, entryLength, packWindow, unpackWindow, windowLayout } from './window-block.ts'

export const getColumnsFilePath = (copy: string): string => `${copy}-columns`

const trailer = Buffer.alloc(64, `causeway columns 1 ${windowLayout}`)

/** An index entry: first frame, offset, and window entry. */
const indexEntryLength = 2 + entryLength

/** Suffixes of incomplete files, which a background job and a request may write at the same time. */
export const columnsParts = { background: '.part', request: '.question.part' } as const

/** Returns `undefined` if the file cannot be created, such as while another request is writing it. */
export function createColumnsWriter(file: string, bodies: readonly BodyId[]): ColumnsWriter | undefined {
  try {
    return new ColumnsWriter(file, bodies, 'request')
  } catch {
    return undefined
  }
}

/** Writes windows, which must be in frame order. `finish` renames the file to its final name. */
export class ColumnsWriter {
  readonly #file: string
  readonly #part: string
  readonly #descriptor: number
  readonly #bodies: readonly BodyId[]
  readonly #entries: number[] = []
  #at = 0
  #isOpen = true

  constructor(file: string, bodies: readonly BodyId[], writer: keyof typeof columnsParts) {
    this.#file = file
    this.#part = `${file}${columnsParts[writer]}`
    this.#bodies = bodies
    // Never overwrites the file of another request, which may still be writing.
    this.#descriptor = openSync(this.#part, writer === 'background' ? 'w' : 'wx', 0o600)
  }

  add(window: FrameWindow): void {
    const { entry, bytes } = packWindow(window)
    this.#entries.push(window.frames[0] ?? Number.NaN, this.#at, ...Array.from(entry))
    this.#write(bytes)
  }

  finish(): void {
    const index = this.#at
    const entries = this.#entries
    this.#write(Float64Array.from(this.#bodies))
    this.#write(Float64Array.from(entries))
    this.#write(Float64Array.of(index, this.#bodies.length, entries.length / indexEntryLength))
    this.#write(trailer)
    this.#close()
    renameSync(this.#part, this.#file)
  }

  /** Does nothing after `finish`. */
  discard(): void {
    if (!this.#isOpen) return
    this.#close()
    rmSync(this.#part, { force: true })
  }

  #close(): void {
    this.#isOpen = false
    closeSync(this.#descriptor)
  }

  #write(block: ArrayBufferView): void {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done)
    this.#at += bytes.length
  }
}

interface StoredWindow {
  readonly offset: number
  /** Integers, because doubles would make V8 discard the optimized code that reads windows. */
  readonly entry: Uint32Array
}

export interface ColumnsReader {
  readonly read: (...args: Parameters<ReadWindow>) => FrameWindow | undefined
  close(): void
}

/** Returns `undefined` if the file is missing, or has a different layout or different bodies. */
export function openColumns(file: string, bodies: readonly BodyId[]): ColumnsReader | undefined {
  const descriptor = openIfExists(file)
  if (descriptor === undefined) return undefined
  const entries = readIndex(descriptor, bodies)
  if (entries === undefined) {
    closeSync(descriptor)
    return undefined
  }
  return {
    read(ids, context) {
      const storedWindow = entries.get(ids[0] ?? Number.NaN)
      if (
        storedWindow === undefined ||
        storedWindow.entry[0] !== ids.length ||
        storedWindow.entry[1] !== context
      )
        return undefined
      const bytes = readBytes(
        descriptor,
        countWindowBytes(storedWindow.entry, bodies.length),
        storedWindow.offset,
      )
      return unpackWindow(storedWindow.entry, bytes, bodies)
    },
    close: () => closeSync(descriptor),
  }
}

function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readBytes(descriptor: number, length: number, from: number): ArrayBuffer {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const read = readSync(descriptor, bytes, done, length - done, from + done)
    if (read === 0) throw new Error('the columns file is truncated')
    done += read
  }
  return bytes.buffer
}

function readIndex(
  descriptor: number,
  bodies: readonly BodyId[],
): ReadonlyMap<number, StoredWindow> | undefined {
  const { size } = fstatSync(descriptor)
  const tail = 3 * 8 + trailer.length
  if (size < tail) return undefined
  const end = readBytes(descriptor, tail, size - tail)
  if (!trailer.equals(new Uint8Array(end, 3 * 8))) return undefined
  const [index = 0, bodyCount = 0, count = 0] = new Float64Array(end, 0, 3)
  const numbers = new Float64Array(readBytes(descriptor, size - tail - index, index))
  const hasSameBodies = bodyCount === bodies.length && bodies.every((id, column) => numbers[column] === id)
  if (!hasSameBodies) return undefined
  const entries = new Map<number, StoredWindow>()
  for (let i = 0; i < count; i++) {
    const at = bodyCount + i * indexEntryLength
    const [first = Number.NaN, offset = 0] = numbers.subarray(at, at + 2)
    const entry = Uint32Array.from(numbers.subarray(at + 2, at + indexEntryLength))
    entries.set(first, { offset, entry })
  }
  return entries
}
