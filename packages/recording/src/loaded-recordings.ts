import type { CausewayError } from '@causeway/protocol'
import { type BehindOptions, behindWork, isDamage } from './behind-work.ts'
import type { Snapshot } from './catalogue.ts'
import type { LoadedRecording } from './loaded-recording.ts'

/** A copy is not taken away within this time of its last use: whoever opened it is still asking. */
const graceMs = 10_000

/** What the set of loaded recordings works with. */
export interface LoadedOptions extends BehindOptions {
  /** workers that stay open */
  readonly limit: number
  readonly now: () => number
  /** Hears of a copy whose damage was found behind. */
  readonly onDamage: (entry: LoadedRecording, error: CausewayError) => void
  /** Hears of a copy that could not be indexed or prepared; it goes on answering without. */
  readonly onBehindFailure: (entry: LoadedRecording, error: unknown) => void
}

/** The recordings that are loaded, by the key of their copy, least recently used first. */
export interface LoadedRecordings {
  /** A loaded recording, which is now the one used last. */
  use(key: string): Promise<LoadedRecording | undefined>
  /** Takes up a recording; what it lacks is made behind. */
  add(entry: LoadedRecording): Promise<void>
  /** Ends what uses a copy and removes it. */
  discard(key: string): Promise<void>
  /** Lets go of a copy unless it is in use; answers whether it did. The file stays. */
  release(snapshot: Snapshot): Promise<boolean>
  /** Bytes of the workers, and of the answers that are kept. */
  bytes(): Promise<{ readonly workers: number; readonly answers: number }>
  /** Ends workers without calls in hand until so many bytes are given back, the longest unused first; gives the bytes. */
  shrinkWorkers(bytes: number): Promise<number>
  /** Forgets answers likewise. */
  shrinkAnswers(bytes: number): number
  /** Recordings that have a worker. */
  openCount(): number
  /** Recordings for which something is made behind. */
  preparingCount(): number
  close(): Promise<void>
}

/** True within this time; false for a time that is yet to come, because the clock was set back. */
const isLately = (ms: number, nowMs: number, withinMs: number): boolean =>
  ms <= nowMs && nowMs - ms < withinMs

/** Makes an empty set. */
export function loadedRecordings(options: LoadedOptions): LoadedRecordings {
  const { copies, limit, now, onDamage, onBehindFailure } = options
  const loaded = new Map<string, LoadedRecording>()
  const behind = behindWork(options)

  const letGo = async (key: string): Promise<void> => {
    await behind.stop(key)
    const entry = loaded.get(key)
    loaded.delete(key)
    await entry?.release()
  }

  const discard = async (key: string): Promise<void> => {
    await letGo(key)
    await copies.remove(key)
  }

  /** Ends the workers used longest ago; their recordings start a new one when they are asked again. */
  const boundWorkers = async (keep: LoadedRecording): Promise<void> => {
    const open = [...loaded.values()].filter(({ isOpen }) => isOpen)
    const idle = open.filter((entry) => entry !== keep && !entry.isBusy)
    await Promise.all(idle.slice(0, Math.max(0, open.length - limit)).map((entry) => entry.release()))
  }

  const workBehind = async (entry: LoadedRecording): Promise<void> => {
    try {
      await behind.begin(entry)
    } catch (error) {
      if (isDamage(error)) {
        onDamage(entry, error as CausewayError)
        entry.fail(error as CausewayError)
        await discard(entry.key)
      } else if (loaded.get(entry.key) === entry) onBehindFailure(entry, error)
    }
  }

  return {
    async use(key) {
      const entry = loaded.get(key)
      if (!entry) return undefined
      loaded.delete(key)
      loaded.set(key, entry)
      copies.touch(key)
      await boundWorkers(entry)
      return entry
    },
    async add(entry) {
      await letGo(entry.key)
      loaded.set(entry.key, entry)
      copies.touch(entry.key)
      await boundWorkers(entry)
      workBehind(entry).catch((error) => onBehindFailure(entry, error))
    },
    discard,
    async release({ key, used_ms }) {
      // A copy that is being loaded is not in the map yet, but was touched just now.
      if (loaded.get(key)?.isBusy || isLately(used_ms, now(), graceMs)) return false
      await letGo(key)
      return true
    },
    async bytes() {
      const all = [...loaded.values()]
      const workers = await Promise.all(all.map((entry) => entry.bytes()))
      return {
        workers: workers.reduce((sum, one) => sum + one, 0),
        answers: all.reduce((sum, { answers }) => sum + answers.bytes, 0),
      }
    },
    async shrinkWorkers(bytes) {
      let given = 0
      for (const entry of [...loaded.values()]) {
        if (given >= bytes) break
        if (!entry.isOpen || entry.isBusy) continue
        const held = await entry.bytes()
        // Somebody may have asked it meanwhile.
        if (entry.isBusy) continue
        await entry.release()
        given += held
      }
      return given
    },
    shrinkAnswers(bytes) {
      let given = 0
      for (const { answers } of loaded.values()) if (given < bytes) given += answers.shrink(bytes - given)
      return given
    },
    openCount: () => [...loaded.values()].filter(({ isOpen }) => isOpen).length,
    preparingCount: () => behind.count,
    async close() {
      await behind.stopAll()
      await Promise.all([...loaded.values()].map((entry) => entry.release()))
      loaded.clear()
    },
  }
}
