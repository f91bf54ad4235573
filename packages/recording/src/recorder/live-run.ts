import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { Ingested } from './recorder-types.ts'
import type { RunStatus } from './run-schema.ts'
import type { RunProgress } from './run-writer.ts'
import type { SpareWorker } from './spare-worker.ts'

/** A run that has a worker which writes it. */
export interface LiveRun {
  readonly name: string
  /** what is stored */
  readonly progress: RunProgress
  /** epoch ms of the last flush */
  readonly updatedMs: number
  /** True while a client sends frames. */
  readonly isWriting: boolean
  /** False once its worker has died. */
  readonly isAlive: boolean
  /** Takes the place of the one client that may send frames; `take` or a failure gives it back. */
  begin(): void
  /** Stores the lines of a body; see `Recorder.write`. */
  take(body: AsyncIterable<Uint8Array>): Promise<Ingested & RunProgress>
  /** Fills the run, which is new, from a private copy. */
  import(copy: string): Promise<void>
  /** Stores what is left, notes the status and lets go of the worker. */
  close(status: RunStatus): Promise<void>
}

/** What a live run works with. */
export interface LiveRunOptions {
  readonly name: string
  readonly file: string
  readonly workers: SpareWorker
  readonly now: () => number
  /** bytes that the file may have */
  readonly bytes: number
  readonly idleMs: number
  readonly onStored: () => void
  readonly onIdle: () => void
}

/** What a body says itself of why it ends, else that it broke off. */
const brokenOff = (cause: unknown): CausewayError =>
  isCausewayError(cause)
    ? cause
    : new CausewayError('CANCELLED', 'the body broke off; whole lines before that are stored', { cause })

/** Time between a frame and the flush that stores it, ms. */
const flushMs = 100

/**
 * The memory of bytes that have it to themselves, as those of a connection have. Moved, it is neither copied nor left for
 * the garbage collection of the main thread, which would mark its whole heap for it many times a second.
 */
const ownBuffer = ({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []

/** Opens the run file in a worker; ends the worker where that fails. */
export async function liveRun(options: LiveRunOptions): Promise<LiveRun> {
  const { name, file, workers, now, bytes, idleMs, onStored, onIdle } = options
  const link = workers.take()
  let progress: RunProgress
  try {
    progress = await link.call('runOpen', { file, nowMs: now(), bytes })
    if (progress.status === 'interrupted')
      progress = await link.call('runStatus', { status: 'live', nowMs: now() })
  } catch (error) {
    await link.stop()
    throw error
  }
  let updatedMs = now()
  let isWriting = false
  let flushing: NodeJS.Timeout | undefined
  const idle = setTimeout(() => onIdle(), idleMs).unref()

  const note = <Progress extends RunProgress>(next: Progress): Progress => {
    const isNew = next.total_frames !== progress.total_frames || next.status !== progress.status
    progress = next
    if (isNew) {
      updatedMs = now()
      onStored()
    }
    return next
  }
  /** Stores what is taken by now before long. */
  const flushSoon = (): void => {
    flushing ??= setTimeout(() => {
      flushing = undefined
      // A worker that died is told to whoever sends the next bytes.
      link.call('runFlush', { nowMs: now() }).then(note, () => {})
    }, flushMs)
  }
  const end = (isWhole: boolean) => link.call('runEnd', { isWhole, nowMs: now() }).then(note)
  const takeAll = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    const parts = body[Symbol.asyncIterator]()
    const next = () => parts.next().catch((cause) => brokenOff(cause))
    let coming = next()
    for (;;) {
      const part = await coming
      if (part instanceof CausewayError) throw part
      if (part.done) return
      // One part is read from the connection while the worker stores the one before it, and no more than one.
      coming = next()
      const bytes = part.value
      note(await link.call('runWrite', { bytes, nowMs: now() }, { moved: ownBuffer(bytes) }))
      flushSoon()
    }
  }

  return {
    name,
    get progress() {
      return progress
    },
    get updatedMs() {
      return updatedMs
    },
    get isWriting() {
      return isWriting
    },
    get isAlive() {
      return link.isAlive
    },
    begin() {
      isWriting = true
    },
    async take(body) {
      try {
        await takeAll(body)
        return await end(true)
      } catch (error) {
        // Also makes the worker forget the rest of a line, which the next body does not go on with.
        await end(false).catch(() => {})
        throw error
      } finally {
        isWriting = false
        idle.refresh()
      }
    },
    async import(copy) {
      note(await link.call('runImport', { file: copy, nowMs: now() }))
    },
    async close(status) {
      clearTimeout(idle)
      clearTimeout(flushing)
      try {
        note(await link.call('runStatus', { status, nowMs: now() }))
        await link.call('runClose', undefined)
      } catch (error) {
        await link.stop()
        throw error
      }
      await workers.give(link)
    },
  }
}
