import { setImmediate as turn } from 'node:timers/promises'
import type { ColumnsFile } from './columns-file.ts'
import type { Connection } from './connection.ts'
import { frameTable } from './era.ts'
import type { BodyId, FrameRange } from './types.ts'
import { type ReadWindow, windowReader } from './window-reader.ts'
import type { FlatRows, FrameWindow } from './window-types.ts'

/** What reading many windows reports, and by what it is stopped. */
export interface WindowCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number, message: string) => void
}

/** A recording as windows of columns: read when they are first needed and kept up to a number of bytes. */
export interface Windows {
  /**
   * The windows of a range in frame order. Other calls of the worker are answered between two of them, and an abort is
   * seen there. Progress counts frames while they are read from the file; kept windows come at once.
   */
  over(range: FrameRange, call: WindowCall): AsyncGenerator<FrameWindow>
  /** bytes of the windows that are kept */
  readonly bytes: number
  /** windows that were read from the tables of the recording so far; those of a file of columns do not count */
  readonly fromTables: number
}

/** States of bodies in one window: reading them takes a few tens of milliseconds. */
const bodyFrames = 4000

/** Bytes of windows that one recording may keep; 100k frames of 20 bodies with 4 contacts each fit. */
const keptBytes = 512 * 1024 ** 2

/** Windows between two turns of the event loop when nothing has to be read. */
const keptAtOnce = 8

/** Where windows come from beside SQL, and how much of them stays in memory. */
export interface WindowSource {
  /** bounds what is kept; what exceeds it is read anew each time */
  readonly capBytes?: number
  /** the columns as a file; a window that it lacks is read from the tables */
  readonly columns?: ColumnsFile | undefined
}

/** Prepares the windows of a recording. */
export function recordingWindows(
  connection: Connection,
  bodies: readonly BodyId[],
  { capBytes = keptBytes, columns }: WindowSource = {},
): Windows {
  const ids = connection.db.prepare<[], number>(`SELECT id FROM ${frameTable} ORDER BY id`).pluck().all()
  const fromFile: FromFile = (ids, context) => columns?.read(ids, context)
  return windowsOver(ids, windowReader(connection, bodies), bodies.length, { capBytes, fromFile })
}

type FromFile = (...args: Parameters<ReadWindow>) => FrameWindow | undefined

/** Windows over frames whose ids ascend. The list may grow: a window that was not full is then read again. */
export function windowsOver(
  ids: readonly number[],
  read: ReadWindow,
  bodies: number,
  { capBytes = keptBytes, fromFile }: { readonly capBytes?: number; readonly fromFile?: FromFile } = {},
): Windows {
  const length = Math.min(4096, Math.max(16, Math.ceil(bodyFrames / Math.max(1, bodies))))
  const kept = new Map<number, FrameWindow>()
  let bytes = 0
  let fromTables = 0

  const load = (index: number): FrameWindow => {
    const start = index * length
    const context = start === 0 ? 0 : 1
    const outgrown = kept.get(index)
    if (outgrown !== undefined) {
      kept.delete(index)
      bytes -= bytesOf(outgrown)
    }
    const wanted = ids.slice(start - context, start + length)
    let window = fromFile?.(wanted, context)
    if (window === undefined) {
      window = read(wanted, context)
      fromTables += 1
    }
    const size = bytesOf(window)
    if (bytes + size <= capBytes) {
      kept.set(index, window)
      bytes += size
    }
    return window
  }

  /** The window as it was kept, if no frame has been added to it since. */
  const keptWhole = (index: number): FrameWindow | undefined => {
    const window = kept.get(index)
    const frames = Math.min(length, ids.length - index * length)
    return window !== undefined && window.to - window.from === frames ? window : undefined
  }

  return {
    get bytes() {
      return bytes
    },
    get fromTables() {
      return fromTables
    },
    async *over({ start, end }, { signal, progress }) {
      const first = start === null ? 0 : ids.findIndex((id) => id >= start)
      const beyond = end === null ? -1 : ids.findIndex((id) => id > end)
      const last = (beyond === -1 ? ids.length : beyond) - 1
      if (first === -1 || last < first) return
      const [low, high] = [Math.floor(first / length), Math.floor(last / length)]
      for (let index = low; index <= high; index++) {
        const known = keptWhole(index)
        if (known === undefined || index % keptAtOnce === 0) await turn()
        signal.throwIfAborted()
        const window = known ?? load(index)
        if (known === undefined)
          progress((index - low + 1) * length, (high - low + 1) * length, 'reading frames')
        const row = (position: number): number => position - index * length + window.from
        yield {
          ...window,
          from: Math.max(window.from, row(first)),
          to: Math.min(window.to, row(last) + 1),
        }
      }
    },
  }
}

const flatBytes = ({ offset, data }: FlatRows): number => offset.byteLength + data.data.byteLength

function bytesOf(window: FrameWindow): number {
  const { frames, times, states, energies, system, solver } = window
  const blocks = [states, energies, system, solver].reduce((sum, { data }) => sum + data.byteLength, 0)
  const flat = [window.collisions, window.constraints, window.friction, window.externals]
  return frames.byteLength + times.byteLength + blocks + flat.reduce((sum, rows) => sum + flatBytes(rows), 0)
}
