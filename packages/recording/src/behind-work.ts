/** What is done for a private copy while it already answers, in a worker of its own. */
import { isCausewayError } from '@causeway/protocol'
import { answersFileOf } from './answers-file.ts'
import { columnsFileOf } from './columns-file.ts'
import type { LoadedRecording } from './loaded-recording.ts'
import { exists, type SnapshotCache } from './snapshot-cache.ts'
import type { Foreseen, RecordingSummary } from './types.ts'
import type { RecordingWorker } from './worker-link.ts'

/** What the work needs. */
export interface BehindOptions {
  readonly copies: SnapshotCache
  readonly startWorker: () => RecordingWorker
  /** body-frames from which on a recording is prepared */
  readonly worthPreparing: number
  /** questions that will be asked of a recording */
  readonly foreseen: (summary: RecordingSummary) => readonly Foreseen[]
}

/** Work for copies, by their keys. */
export interface BehindWork {
  /**
   * Checks and indexes a copy where that is still to be done, writes its columns and asks what is foreseen; done at once
   * where nothing is to be done. Throws `RECORDING_DAMAGED`, `WORKER_LOST` where it was stopped.
   */
  begin(entry: LoadedRecording): Promise<void>
  /** Stops the work for a copy. */
  stop(key: string): Promise<void>
  stopAll(): Promise<void>
  /** copies that are being worked on */
  readonly count: number
}

/** Makes the work; nothing is under way yet. */
export function behindWork({ copies, startWorker, worthPreparing, foreseen }: BehindOptions): BehindWork {
  const links = new Map<string, RecordingWorker>()

  const prepare = async (entry: LoadedRecording, link: RecordingWorker): Promise<void> => {
    const { file, key, recording } = entry
    const [columns, answers] = [columnsFileOf(file), answersFileOf(file)]
    const missing: Foreseen[] = []
    for (const question of foreseen(recording.summary)) {
      const found = await link.call('recall', { file: answers, question })
      if (found.length === 0) missing.push(question)
      else await entry.keep(question, async () => found[0])
    }
    const hasColumns = await exists(columns)
    if (hasColumns && missing.length === 0) return
    await link.call('open', { file, path: recording.identity.path })
    if (!hasColumns) {
      await link.call('columns', { file: columns })
      await entry.refresh()
    }
    for (const question of missing)
      await entry.keep(question, (options) => link.call('foresee', { file: answers, question }, options))
    await copies.resize(key)
  }

  return {
    async begin(entry) {
      const { key, file, recording, isIndexed } = entry
      const isWorth = bodyFrames(recording.summary) >= worthPreparing && recording.identity.run === undefined
      if (isIndexed && !isWorth) return
      const link = startWorker()
      links.set(key, link)
      try {
        await link.call('stepBack', undefined)
        if (!isIndexed) {
          await link.call('finish', { file, path: recording.identity.path })
          await entry.refresh()
          await copies.resize(key)
        }
        if (isWorth) await prepare(entry, link)
      } finally {
        if (links.get(key) === link) links.delete(key)
        await link.stop()
      }
    },
    stop: async (key) => links.get(key)?.kill(),
    stopAll: async () => {
      await Promise.all([...links.values()].map((link) => link.kill()))
    },
    get count() {
      return links.size
    },
  }
}

const bodyFrames = ({ frames, bodies }: RecordingSummary): number =>
  (frames?.total_frames ?? 0) * bodies.length

/** True for the error of a copy that turned out to be damaged. */
export const isDamage = (error: unknown): boolean =>
  isCausewayError(error) && error.code === 'RECORDING_DAMAGED'
