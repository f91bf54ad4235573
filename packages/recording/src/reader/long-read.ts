import { setImmediate as nextTurn } from 'node:timers/promises'
import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { ColumnsWriter } from '../formats/columns-file.ts'
import type { FrameWindow } from '../formats/frame-window.ts'
import { unpackWindow } from '../formats/window-block.ts'
import type { BodyId } from '../types.ts'
import type { WindowMethods } from './window-session.ts'

interface LongReadOptions {
  readonly file: string
  readonly bodies: readonly BodyId[]
  readonly last: number
  /** Returns the frame ids of a window. The first `context` of them precede it. */
  readonly locate: (index: number) => { readonly ids: readonly number[]; readonly context: number }
  readonly read: (index: number) => FrameWindow
  readonly columns: ColumnsWriter | undefined
}

interface PendingWindow {
  readonly settled: Promise<void>
  isSettled: boolean
  /** Absent if the other thread failed. */
  window?: FrameWindow
}

/** Maximum number of windows that each thread reads ahead. */
const maxAhead = 4

/** Reads many complete windows in order, with two threads. */
export class LongRead {
  readonly #options: LongReadOptions
  readonly #link = new WorkerLink<WindowMethods>(resolveWorkerFile('./window-worker', import.meta.url), {
    name: 'the worker that reads ahead',
  })
  readonly #pending = new Map<number, PendingWindow>()
  readonly #ownWindows = new Map<number, FrameWindow>()
  #columns: ColumnsWriter | undefined
  #next = 0

  constructor(options: LongReadOptions) {
    this.#options = options
    this.#columns = options.columns
  }

  /** Must be called with ascending indexes. */
  async load(index: number): Promise<FrameWindow> {
    this.#next = Math.max(this.#next, index)
    const pending = this.#pending.get(index)
    if (pending !== undefined) return this.#wait(index, pending)
    const ownWindow = this.#ownWindows.get(index)
    this.#ownWindows.delete(index)
    if (ownWindow === undefined) this.#next = Math.max(this.#next, index + 1)
    this.#requestNext()
    return ownWindow ?? this.#options.read(index)
  }

  /** Drops a window that the caller already has. */
  skip(index: number): void {
    this.#pending.delete(index)
    this.#ownWindows.delete(index)
  }

  add(window: FrameWindow): void {
    this.#store((columns) => columns.add(window))
  }

  finish(): void {
    this.#store((columns) => columns.finish())
  }

  /** Stops the other thread. Removes an incomplete columns file. */
  close(): void {
    void this.#link.kill()
    this.#columns?.discard()
  }

  /** Continues without the columns file if the disk is full. */
  #store(write: (columns: ColumnsWriter) => void): void {
    if (this.#columns === undefined) return
    try {
      write(this.#columns)
    } catch {
      this.#columns.discard()
      this.#columns = undefined
    }
  }

  async #wait(index: number, pending: PendingWindow): Promise<FrameWindow> {
    while (!pending.isSettled && this.#ownWindows.size < maxAhead && this.#next <= this.#options.last) {
      const next = this.#next++
      this.#ownWindows.set(next, this.#options.read(next))
      await nextTurn()
    }
    await pending.settled
    this.#pending.delete(index)
    this.#requestNext()
    return pending.window ?? this.#options.read(index)
  }

  #requestNext(): void {
    while (this.#pending.size < maxAhead && this.#next <= this.#options.last) this.#request(this.#next++)
  }

  #request(index: number): void {
    const { file, bodies, locate } = this.#options
    const request = this.#link.call('read', { file, bodies, ...locate(index) })
    const settled = request.then(
      ({ entry, bytes }) => {
        pending.window = unpackWindow(entry, bytes.buffer, bodies)
      },
      () => {}, // This thread then reads the window and reports the error.
    )
    const pending: PendingWindow = {
      isSettled: false,
      settled: settled.then(() => {
        pending.isSettled = true
      }),
    }
    this.#pending.set(index, pending)
  }
}
