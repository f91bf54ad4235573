import { mkdirSync, rmSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { Catalogue, RunEntry } from '../catalogue.ts'
import { removeCopy } from '../copy.ts'
import type { LibraryLog } from '../log.ts'
import { exists } from '../snapshot-cache.ts'
import type { RecorderWorker } from '../worker-link.ts'
import { type LiveRun, liveRun } from './live-run.ts'
import { nameLanes } from './name-lanes.ts'
import type { Recorder, RecorderLimits, RunState } from './recorder-types.ts'
import { expiredRuns } from './retention.ts'
import type { RunStatus } from './run-schema.ts'
import { spareWorker } from './spare-worker.ts'

/** What a recorder works with. */
export interface RecorderOptions {
  /** folder of the run files and of exports under way */
  readonly dir: string
  readonly catalogue: Catalogue
  readonly startWorker: () => RecorderWorker
  readonly limits: RecorderLimits
  readonly now: () => number
  readonly log: LibraryLog | undefined
  /** Ends what reads a run before its file is removed. */
  readonly letGo: (name: string) => Promise<void>
}

const namePattern = /^[A-Za-z0-9._-]{1,64}$/

/** Opens the folder of runs; what a crash left live is marked as interrupted. */
export async function openRecorder(options: RecorderOptions): Promise<Recorder> {
  const { dir, catalogue, startWorker, limits, now, log, letGo } = options
  const folder = join(dir, 'recordings')
  const exports = join(dir, 'exports')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  rmSync(exports, { recursive: true, force: true })
  const pathOf = (name: string): string => join(folder, `${name}.db`)
  const live = new Map<string, LiveRun>()
  const listeners = new Set<(name: string) => void>()
  const alone = nameLanes()
  const workers = spareWorker(startWorker)

  const entryOf = async (run: LiveRun): Promise<RunEntry> => {
    const { status, total_frames, first_frame_id: first_frame, last_frame_id: last_frame } = run.progress
    const bytes = await sizeOf(pathOf(run.name))
    return { name: run.name, status, total_frames, first_frame, last_frame, bytes, updated_ms: run.updatedMs }
  }

  /** From here on the catalogue tells how the run stands. */
  const forget = async (run: LiveRun): Promise<void> => {
    try {
      catalogue.putRun(await entryOf(run))
    } finally {
      // Its worker may be at work for another run by now, also where the catalogue could not be written.
      live.delete(run.name)
    }
  }

  const open = async (name: string): Promise<LiveRun> => {
    const known = live.get(name)
    if (known?.isAlive) return known
    // A worker that died has lost what it had not stored; the file is as it was after the flush before, which is told
    // until there is another worker.
    if (known !== undefined) await forget(known)
    if (live.size >= limits.live) await closeIdle()
    const run = await liveRun({
      name,
      file: pathOf(name),
      workers,
      now,
      bytes: limits.bytes,
      idleMs: limits.idleMs,
      onStored: () => {
        for (const listener of listeners) listener(name)
      },
      onIdle: () => void alone(name, () => interrupt(name)).catch((error) => failed(name, error)),
    })
    live.set(name, run)
    catalogue.putRun(await entryOf(run))
    return run
  }
  const failed = (name: string, error: unknown): void =>
    log?.warn({ err: error, recording: name }, 'closing a recording failed')

  /** Closes a run and notes how it stands. */
  const close = async (run: LiveRun, status: RunStatus): Promise<void> => {
    try {
      await run.close(status)
    } finally {
      await forget(run)
    }
  }
  const interrupt = async (name: string): Promise<void> => {
    const run = live.get(name)
    if (run && !run.isWriting)
      await close(run, run.progress.status === 'finished' ? 'finished' : 'interrupted')
  }
  const closeIdle = async (): Promise<void> => {
    const idle = [...live.values()].filter(({ isWriting }) => !isWriting)
    const oldest = idle.sort((a, b) => a.updatedMs - b.updatedMs)[0]
    if (oldest === undefined)
      throw new CausewayError('OVERLOADED', `${live.size} recordings are being written`, {
        data: { retry_after_ms: 1000 },
      })
    await alone(oldest.name, () => interrupt(oldest.name))
  }

  const stateOf = async (name: string): Promise<RunState> => {
    const run = live.get(name)
    const entry = run ? await entryOf(run) : catalogue.run(name)
    if (entry === undefined)
      throw new CausewayError('RECORDING_NOT_FOUND', `there is no recording ${name} of our own`, {
        data: { recording: name },
      })
    const { status, total_frames, first_frame: first_frame_id, last_frame: last_frame_id } = entry
    const [recording, size_bytes] = [catalogue.idOf(pathOf(name)), await sizeOf(pathOf(name))]
    return { recording, name, status, total_frames, first_frame_id, last_frame_id, size_bytes }
  }

  /** Asked before the turn of a name is waited for, which an import holds to its end, and again in it. */
  const requireFree = (name: string): void => {
    if (live.get(name)?.isWriting) throw inUse(name)
  }
  const removeFile = async (name: string): Promise<void> => {
    const run = live.get(name)
    // One whose worker died cannot be closed, and is removed all the same.
    if (run) await close(run, 'interrupted').catch((error) => failed(name, error))
    await letGo(name)
    catalogue.removeRun(name)
    await removeCopy(pathOf(name))
  }
  /** Removes what is too old or too much. */
  const retain = async (): Promise<void> => {
    const idle = catalogue.runs().filter(({ name }) => !live.has(name))
    const sizes = await Promise.all([...live.keys()].map((name) => sizeOf(pathOf(name))))
    const held = sizes.reduce((sum, size) => sum + size, 0)
    for (const { name, bytes, updated_ms } of expiredRuns(idle, held, limits, now())) {
      log?.warn({ recording: name, bytes, updated_ms }, 'a recording was removed to keep the limits')
      await alone(name, async () => {
        if (!live.has(name)) await removeFile(name)
      })
    }
  }

  /** Makes a run that is finished at once; nothing is left of it where that fails. Throws `RECORDING_EXISTS`. */
  const makeRun = async (name: string, fill: (run: LiveRun) => Promise<void>): Promise<RunState> => {
    requireFree(checkName(name))
    if (catalogue.run(name) === undefined) await retain()
    return alone(name, async () => {
      if (await exists(pathOf(name)))
        throw new CausewayError('RECORDING_EXISTS', `there is a recording ${name} already`, {
          data: { recording: name },
        })
      try {
        const run = await open(name)
        await fill(run)
        await close(run, 'finished')
      } catch (error) {
        await removeFile(name)
        throw error
      }
      return stateOf(name)
    })
  }

  /** What a crash left: the catalogue may lag behind the files, and the files are right. */
  const recover = async (): Promise<void> => {
    const found = (await readdir(folder))
      .filter((file) => file.endsWith('.db'))
      .map((file) => file.slice(0, -3))
    for (const { name } of catalogue.runs()) if (!found.includes(name)) catalogue.removeRun(name)
    for (const name of found) {
      if ((catalogue.run(name)?.status ?? 'live') !== 'live') continue
      try {
        const run = await open(name)
        await close(run, run.progress.status === 'finished' ? 'finished' : 'interrupted')
      } catch (error) {
        failed(name, error)
        const [bytes, updated_ms] = [await sizeOf(pathOf(name)), now()]
        const unknown = { total_frames: 0, first_frame: null, last_frame: null }
        catalogue.putRun({ name, status: 'interrupted', ...unknown, bytes, updated_ms })
      }
    }
    await retain()
  }
  await recover()

  return {
    async write(name, body) {
      requireFree(checkName(name))
      if (catalogue.run(name) === undefined) await retain()
      const run = await alone(name, async () => {
        requireFree(name)
        const opened = await open(name)
        opened.begin()
        return opened
      })
      const recording = catalogue.idOf(pathOf(name))
      const { accepted, ignored, last_frame_id } = await run.take(body)
      return { recording, accepted, ignored, last_frame_id }
    },
    state: async (name) => stateOf(checkName(name)),
    async finish(name) {
      requireFree(checkName(name))
      return alone(name, async () => {
        const { status } = await stateOf(name)
        requireFree(name)
        if (status !== 'finished' || live.has(name)) await close(await open(name), 'finished')
        return stateOf(name)
      })
    },
    async remove(name) {
      requireFree(checkName(name))
      return alone(name, async () => {
        await stateOf(name)
        requireFree(name)
        await removeFile(name)
      })
    },
    async export(name) {
      await stateOf(checkName(name))
      mkdirSync(exports, { recursive: true, mode: 0o700 })
      const file = join(exports, `${crypto.randomUUID()}.db`)
      const remove = (): Promise<void> => rm(file, { force: true })
      const link = startWorker()
      try {
        await link.call('runExport', { file: pathOf(name), to: file })
      } catch (error) {
        await remove()
        // It may have been removed meanwhile, which is no defect.
        await stateOf(name)
        throw error
      } finally {
        await link.stop()
      }
      return { file, remove }
    },
    importLines: (name, body) =>
      makeRun(name, async (run) => {
        run.begin()
        try {
          await run.take(body)
        } catch (error) {
          throw nothingKept(error)
        }
      }),
    importCopy: (name, copy) => makeRun(name, (run) => run.import(copy)),
    runs: () =>
      catalogue
        .runs()
        .map((entry) => {
          const run = live.get(entry.name)
          if (!run) return entry
          const {
            status,
            total_frames,
            first_frame_id: first_frame,
            last_frame_id: last_frame,
          } = run.progress
          return { ...entry, status, total_frames, first_frame, last_frame, updated_ms: run.updatedMs }
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    revision(name) {
      const { status, total_frames } = live.get(name)?.progress ?? catalogue.run(name) ?? {}
      return `${status}/${total_frames}`
    },
    fileOf: (name) => (catalogue.run(name) === undefined ? undefined : pathOf(name)),
    async health() {
      const runs = catalogue.runs()
      const sizes = await Promise.all(
        runs.map(({ name, bytes }) => (live.has(name) ? sizeOf(pathOf(name)) : bytes)),
      )
      const run_bytes = sizes.reduce((sum, size) => sum + size, 0)
      return { runs: runs.length, live_runs: live.size, run_bytes, run_cap_bytes: limits.bytes }
    },
    onStored: (listener) => void listeners.add(listener),
    async close() {
      await Promise.all(
        [...live.values()].map((run) =>
          close(run, run.progress.status === 'finished' ? 'finished' : 'interrupted').catch((error) =>
            failed(run.name, error),
          ),
        ),
      )
      await workers.close()
    },
  }
}

/** The name, if a run can have it; throws `INVALID_ARGUMENTS`. */
function checkName(name: string): string {
  if (namePattern.test(name)) return name
  throw new CausewayError('INVALID_ARGUMENTS', `not a name of a recording: ${name.slice(0, 80)}`, {
    remedy: 'use 1 to 64 of the characters A-Z a-z 0-9 . _ -',
    data: { name: name.slice(0, 80) },
  })
}

/** The same error where the lines before it are not kept. */
function nothingKept(error: unknown): unknown {
  if (!isCausewayError(error) || error.data.line === undefined) return error
  const { code, message, data } = error
  const remedy =
    code === 'INVALID_FRAME' ? 'correct the line named in data.line, and import the file again' : error.remedy
  return new CausewayError(code, message, {
    remedy,
    data: { ...data, accepted: 0, ignored: 0, last_frame_id: null },
    cause: error,
  })
}

/** Two engines under one name would mix their frames. */
const inUse = (name: string): CausewayError =>
  new CausewayError('RECORDING_IN_USE', `another client is writing the recording ${name}`, {
    data: { recording: name },
  })

/** Bytes of a run file with its log; by name only, since a descriptor on a file of SQLite's would drop its locks. */
async function sizeOf(file: string): Promise<number> {
  let bytes = 0
  for (const path of [file, `${file}-wal`]) {
    try {
      bytes += (await stat(path)).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return bytes
}
