/** The entry of a worker that tries everything that a worker may do. */
import { writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { serve, stepBack } from '../src/index.ts'

/** What it does. */
export interface TrialMethods {
  /** Reports each term, then answers the sum. */
  sum(terms: readonly number[] | Float64Array): number
  column(length: number): { readonly data: Float64Array }
  /** Its own buffer after an answer was sent: empty where it was moved. */
  lastColumnBytes(args: undefined): number
  refuse(frame: number): never
  fail(args: undefined): never
  /** Never answers; ends when it is aborted. */
  rest(args: undefined): undefined
  /** Steps back; answers its priority. */
  stepBack(args: undefined): number
  /** Stands still for these milliseconds, as in a long statement of SQLite. */
  stand(ms: number): undefined
  /** Ends the thread in the middle of a call. */
  die(args: undefined): never
  /** Writes this text into the file when the worker is closed. */
  atClose(note: { readonly file: string; readonly text: string }): undefined
}

let last: Float64Array | undefined
let note: { readonly file: string; readonly text: string } | undefined

serve<TrialMethods>(
  {
    sum(terms, { progress }) {
      for (const [index] of terms.entries()) progress(index + 1, terms.length, 'adding')
      return [...terms].reduce((sum, term) => sum + term, 0)
    },
    column(length) {
      last = new Float64Array(length).fill(1)
      return { data: last }
    },
    lastColumnBytes: () => last?.byteLength ?? -1,
    refuse(frame) {
      throw new CausewayError('FRAME_NOT_FOUND', `no frame ${frame}`, {
        remedy: 'ask for another one',
        data: { frame },
      })
    },
    fail() {
      throw new Error('the password is in /root/secret')
    },
    stepBack() {
      stepBack()
      return getPriority()
    },
    async rest(_, { signal }) {
      await wait(2 ** 31 - 1, undefined, { signal, ref: false })
      return undefined
    },
    stand(ms) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      return undefined
    },
    die: () => process.exit(3),
    atClose(wanted) {
      note = wanted
      return undefined
    },
  },
  {
    failure: 'the trial failed',
    close: () => {
      if (note !== undefined) writeFileSync(note.file, note.text)
    },
    moved: (answer) => {
      const data = (answer as { readonly data?: Float64Array } | undefined)?.data
      return data === undefined ? [] : [data.buffer as ArrayBuffer]
    },
  },
)
