import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ColumnsReader, ColumnsWriter } from '../formats/columns-file.ts'
import { allColumns, type ColumnSelection, type FlatRows, type FrameWindow } from '../formats/frame-window.ts'
import { frameTable } from '../formats/schema-era.ts'
import type { BodyId, FrameRange } from '../types.ts'
import type { Connection } from './cpp/connection.ts'
import { createWindowReader, type ReadWindow } from './cpp/window-reader.ts'
import { LongRead } from './long-read.ts'

export interface WindowCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number, message: string) => void
}

export interface Windows {
  /**
   * Yields the windows of a range in frame order, with the selected columns (default: all). Progress excludes cached
   * windows.
   */
  over(range: FrameRange, call: WindowCall, selection?: ColumnSelection): AsyncGenerator<FrameWindow>
  readonly bytes: number
  readonly fromTables: number
}

/** Bodies × frames in a window. Reading them takes a few tens of milliseconds. */
const bodyFrames = 4000

/** Enough for 20k frames of 20 bodies with 4 contacts each. */
const maxCacheBytes = 128 * 1024 ** 2

const windowsPerTurn = 8

/** Minimum number of complete windows for using a second thread. */
const minLongWindows = 64

interface StoredColumns {
  open(): ColumnsReader | undefined
  create(): ColumnsWriter | undefined
}

export interface WindowSource {
  /** Ascending ids. If the list grows, an incomplete window is read again. */
  readonly ids: readonly number[]
  readonly bodies: readonly BodyId[]
  readonly prepare: (selection: ColumnSelection) => ReadWindow
  /** Whether reading fewer columns is faster. Default: yes. */
  readonly isSelective?: boolean
  /** The private copy, if two threads may read long ranges of it. */
  readonly file?: string
  readonly columns?: StoredColumns
  readonly maxBytes?: number
  readonly windowFrames?: number
}

export function createRecordingWindows(
  connection: Connection,
  bodies: readonly BodyId[],
  options: Pick<WindowSource, 'maxBytes' | 'columns' | 'file'> = {},
): Windows {
  const ids = connection.db.prepare<[], number>(`SELECT id FROM ${frameTable} ORDER BY id`).pluck().all()
  const prepare = (selection: ColumnSelection) => createWindowReader(connection, bodies, selection)
  return new CachedWindows({ ids, bodies, prepare, ...options })
}

/** Maximum number of selections with cached statements and windows. */
const maxSelections = 16

interface SelectedWindows {
  readonly key: string
  readonly read: ReadWindow
  readonly cached: Map<number, FrameWindow>
  bytes: number
}

export class CachedWindows implements Windows {
  readonly #source: WindowSource
  readonly #length: number
  readonly #maxBytes: number
  /** By selection key, least recently used first. */
  readonly #selected = new Map<string, SelectedWindows>()
  #fromTables = 0

  constructor(source: WindowSource) {
    this.#source = source
    const fittingLength = Math.ceil(bodyFrames / Math.max(1, source.bodies.length))
    this.#length = source.windowFrames ?? Math.min(4096, Math.max(16, fittingLength))
    this.#maxBytes = source.maxBytes ?? maxCacheBytes
  }

  get bytes(): number {
    return [...this.#selected.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get fromTables(): number {
    return this.#fromTables
  }

  async *over(
    { start, end }: FrameRange,
    { signal, progress }: WindowCall,
    selection = allColumns,
  ): AsyncGenerator<FrameWindow> {
    const { ids } = this.#source
    const first = start === null ? 0 : ids.findIndex((id) => id >= start)
    const endIndex = end === null ? -1 : ids.findIndex((id) => id > end)
    const last = (endIndex === -1 ? ids.length : endIndex) - 1
    if (first === -1 || last < first) return
    const windows = this.#select(selection)
    const length = this.#length
    const [low, high] = [Math.floor(first / length), Math.floor(last / length)]
    const columns = this.#source.columns?.open()
    const longRead = columns === undefined ? this.#startLongRead(windows, low, high) : undefined
    try {
      for (let index = low; index <= high; index++) {
        const cachedWindow = this.#findCached(windows, index)
        if (cachedWindow === undefined || index % windowsPerTurn === 0) await nextTurn()
        signal.throwIfAborted()
        const { ids, context } = this.#locate(index)
        if (cachedWindow !== undefined) longRead?.skip(index)
        const window =
          cachedWindow ??
          columns?.read(ids, context) ??
          (await longRead?.load(index)) ??
          this.#load(windows, index)
        longRead?.add(window)
        if (cachedWindow === undefined)
          progress((index - low + 1) * length, (high - low + 1) * length, 'reading frames')
        const toRow = (position: number): number => position - index * length + window.from
        yield {
          ...window,
          from: Math.max(window.from, toRow(first)),
          to: Math.min(window.to, toRow(last) + 1),
        }
      }
      longRead?.finish()
    } finally {
      longRead?.close()
    }
  }

  #startLongRead(windows: SelectedWindows, low: number, high: number): LongRead | undefined {
    const { file, bodies, ids, columns } = this.#source
    const isLong = windows === this.#selected.get(allColumnsKey) && high - low + 1 >= minLongWindows
    if (file === undefined || !isLong) return undefined
    const isComplete = low === 0 && high === Math.floor((ids.length - 1) / this.#length)
    return new LongRead({
      file,
      bodies,
      last: high,
      locate: (index) => this.#locate(index),
      read: (index) => this.#read(windows, index),
      columns: isComplete ? columns?.create() : undefined,
    })
  }

  #select(requestedColumns: ColumnSelection): SelectedWindows {
    const selection = this.#source.isSelective === false ? allColumns : requestedColumns
    const key = getKey(selection)
    const existing = this.#selected.get(key)
    const windows = existing ?? { key, read: this.#source.prepare(selection), cached: new Map(), bytes: 0 }
    this.#selected.delete(key)
    this.#selected.set(key, windows)
    const [oldest] = this.#selected
    if (oldest !== undefined && this.#selected.size > maxSelections) this.#selected.delete(oldest[0])
    return windows
  }

  #findCached({ cached }: SelectedWindows, index: number): FrameWindow | undefined {
    const window = cached.get(index) ?? this.#selected.get(allColumnsKey)?.cached.get(index)
    const frames = Math.min(this.#length, this.#source.ids.length - index * this.#length)
    return window !== undefined && window.to - window.from === frames ? window : undefined
  }

  /** Returns the frame ids of a window, including its context. */
  #locate(index: number): { readonly ids: readonly number[]; readonly context: number } {
    const start = index * this.#length
    const context = start === 0 ? 0 : 1
    return { ids: this.#source.ids.slice(start - context, start + this.#length), context }
  }

  #read(windows: SelectedWindows, index: number): FrameWindow {
    const { ids, context } = this.#locate(index)
    this.#fromTables += 1
    return windows.read(ids, context)
  }

  #load(windows: SelectedWindows, index: number): FrameWindow {
    const window = this.#read(windows, index)
    this.#cache(windows, index, window)
    return window
  }

  /** Evicts windows of other selections first. Does not cache a window that exceeds the limit. */
  #cache(windows: SelectedWindows, index: number, window: FrameWindow): void {
    if (this.#selected.get(windows.key) !== windows) return
    const previousWindow = windows.cached.get(index)
    if (previousWindow !== undefined) windows.bytes -= countBytes(previousWindow)
    windows.cached.delete(index)
    const size = countBytes(window)
    for (const [key, otherWindows] of this.#selected) {
      if (this.bytes + size <= this.#maxBytes) break
      if (otherWindows !== windows) this.#selected.delete(key)
    }
    if (this.bytes + size > this.#maxBytes) return
    windows.cached.set(index, window)
    windows.bytes += size
  }
}

const getKey = ({ parts, bodies }: ColumnSelection): string =>
  JSON.stringify([[...parts].sort(), bodies && [...bodies].sort((a, b) => a - b)])

const allColumnsKey = getKey(allColumns)

const countFlatBytes = ({ offset, data }: FlatRows): number => offset.byteLength + data.data.byteLength

function countBytes(window: FrameWindow): number {
  const { frames, times, states, energies, system, solver } = window
  const blocks = [states, energies, system, solver].reduce((sum, { data }) => sum + data.byteLength, 0)
  const flat = [window.collisions, window.constraints, window.friction, window.externals, window.joints]
  return (
    frames.byteLength + times.byteLength + blocks + flat.reduce((sum, rows) => sum + countFlatBytes(rows), 0)
  )
}
