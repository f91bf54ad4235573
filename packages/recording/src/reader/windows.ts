import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ColumnsFile } from '../formats/columns-file.ts'
import type { FlatRows, FrameWindow } from '../formats/frame-window.ts'
import { frameTable } from '../formats/schema-era.ts'
import type { BodyId, FrameRange } from '../types.ts'
import type { Connection } from './cpp/connection.ts'
import { type ReadWindow, windowReader } from './cpp/window-reader.ts'

export interface WindowCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number, message: string) => void
}

export interface Windows {
  /**
   * Returns the windows of a range in frame order. Yields to other calls of the worker between windows. Progress
   * excludes cached windows.
   */
  over(range: FrameRange, call: WindowCall): AsyncGenerator<FrameWindow>
  readonly bytes: number
  readonly fromTables: number
}

/** Body-frames of a window, which is read in a few tens of milliseconds. */
const bodyFrames = 4000

/** Maximum size of the cached windows; 100k frames of 20 bodies with 4 contacts each fit. */
const maxCacheBytes = 512 * 1024 ** 2

const windowsPerTurn = 8

interface WindowSource {
  readonly capBytes?: number
  readonly columns?: ColumnsFile | undefined
}

export function recordingWindows(
  connection: Connection,
  bodies: readonly BodyId[],
  { capBytes = maxCacheBytes, columns }: WindowSource = {},
): Windows {
  const ids = connection.db.prepare<[], number>(`SELECT id FROM ${frameTable} ORDER BY id`).pluck().all()
  const fromFile: FromFile = (ids, context) => columns?.read(ids, context)
  return windowsOver(ids, windowReader(connection, bodies), bodies.length, { capBytes, fromFile })
}

type FromFile = (...args: Parameters<ReadWindow>) => FrameWindow | undefined

/** Returns the windows over ascending frame ids. If the list grows, a window that was not full is read again. */
export function windowsOver(
  ids: readonly number[],
  read: ReadWindow,
  bodies: number,
  { capBytes = maxCacheBytes, fromFile }: { readonly capBytes?: number; readonly fromFile?: FromFile } = {},
): Windows {
  const length = Math.min(4096, Math.max(16, Math.ceil(bodyFrames / Math.max(1, bodies))))
  const cache = new Map<number, FrameWindow>()
  let bytes = 0
  let fromTables = 0

  const load = (index: number): FrameWindow => {
    const start = index * length
    const context = start === 0 ? 0 : 1
    const outdated = cache.get(index)
    if (outdated !== undefined) {
      cache.delete(index)
      bytes -= countBytes(outdated)
    }
    const windowIds = ids.slice(start - context, start + length)
    let window = fromFile?.(windowIds, context)
    if (window === undefined) {
      window = read(windowIds, context)
      fromTables += 1
    }
    const size = countBytes(window)
    if (bytes + size <= capBytes) {
      cache.set(index, window)
      bytes += size
    }
    return window
  }

  const findCached = (index: number): FrameWindow | undefined => {
    const window = cache.get(index)
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
        const known = findCached(index)
        if (known === undefined || index % windowsPerTurn === 0) await nextTurn()
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

function countBytes(window: FrameWindow): number {
  const { frames, times, states, energies, system, solver } = window
  const blocks = [states, energies, system, solver].reduce((sum, { data }) => sum + data.byteLength, 0)
  const flat = [window.collisions, window.constraints, window.friction, window.externals]
  return frames.byteLength + times.byteLength + blocks + flat.reduce((sum, rows) => sum + flatBytes(rows), 0)
}
