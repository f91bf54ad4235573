/** Entry file of a worker that covers the features of `serve`. */
import { writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { defineErrors } from '@causeway/protocol'
import { lowerThreadPriority, serve } from '../src/index.ts'

const TrialError = defineErrors({
  FRAME_NOT_FOUND: { status: 404, about: 'there is no such frame', remedy: 'use another frame' },
})

export interface TrialMethods {
  /** Reports progress for each term, then returns the sum. */
  sum(terms: readonly number[] | Float64Array): number
  column(length: number): { readonly data: Float64Array }
  /** Returns the size of the last column's buffer in the worker: 0 after it was transferred. */
  lastColumnBytes(args: undefined): number
  refuse(frame: number): never
  fail(args: undefined): never
  /** Waits until it is aborted. */
  waitForAbort(args: undefined): undefined
  /** Lowers the priority of the worker's thread and returns it. */
  lowerPriority(args: undefined): number
  /** Blocks the thread for `ms` milliseconds, as a long SQLite statement does. */
  block(ms: number): undefined
  /** Uses the CPU for `ms` milliseconds. */
  spin(ms: number): undefined
  /** Ends the thread during the call. */
  exit(args: undefined): never
  /** Writes a text to a file when the worker is closed. */
  writeOnClose(note: { readonly file: string; readonly text: string }): undefined
}

let lastColumn: Float64Array | undefined
let note: { readonly file: string; readonly text: string } | undefined

serve<TrialMethods>(
  {
    sum(terms, { progress }) {
      for (const [index] of terms.entries()) progress(index + 1, terms.length, 'adding')
      return [...terms].reduce((sum, term) => sum + term, 0)
    },
    column(length) {
      lastColumn = new Float64Array(length).fill(1)
      return { data: lastColumn }
    },
    lastColumnBytes: () => lastColumn?.byteLength ?? -1,
    refuse(frame) {
      throw new TrialError('FRAME_NOT_FOUND', `no frame ${frame}`, {
        remedy: 'choose another frame',
        data: { frame },
      })
    },
    fail() {
      throw new Error('the password is in /root/secret')
    },
    async waitForAbort(_, { signal }) {
      await wait(2 ** 31 - 1, undefined, { signal, ref: false })
      return undefined
    },
    lowerPriority() {
      lowerThreadPriority()
      return getPriority()
    },
    block(ms) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      return undefined
    },
    spin(ms) {
      const end = performance.now() + ms
      while (performance.now() < end);
      return undefined
    },
    exit: () => process.exit(3),
    writeOnClose(value) {
      note = value
      return undefined
    },
  },
  {
    failure: 'the trial failed',
    close: () => {
      if (note !== undefined) writeFileSync(note.file, note.text)
    },
    transfer: (result) => {
      const data = (result as { readonly data?: Float64Array } | undefined)?.data
      return data === undefined ? [] : [data.buffer as ArrayBuffer]
    },
  },
)
