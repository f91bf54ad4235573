import { basename, dirname, join } from 'node:path'
import { type CallOptions, inWorker } from '@causeway/worker'
import type { Catalogue } from '../catalogue.ts'
import type { Listing, RecordingLibrary } from '../library-types.ts'
import { type LoadedRecording, loadRecording } from '../loaded-recording.ts'
import type { LoadedRecordings } from '../loaded-recordings.ts'
import type { RecordingWorker } from '../worker-link.ts'
import type { Recorder } from './recorder-types.ts'

type Opened = Awaited<ReturnType<RecordingLibrary['open']>>

/** Runs that we record, as recordings that are listed and opened like all others. */
export interface RunRecordings {
  /** The name of the run that an id, a path or a name stands for; an id comes before a name. */
  find(asked: string): string | undefined
  /** Opens a run through SQLite at its place, never as a copy, with what was added to it by now. */
  open(name: string, call: CallOptions): Promise<Opened>
  listings(): readonly Listing[]
}

/** What they work with. */
export interface RunRecordingsOptions {
  readonly dir: string
  readonly catalogue: Catalogue
  readonly recorder: Recorder
  readonly loaded: LoadedRecordings
  /** Does work that several callers want at the same time once. */
  readonly loads: {
    run(
      key: string,
      work: (options: Required<CallOptions>) => Promise<Opened>,
      options: CallOptions,
    ): Promise<Opened>
  }
  readonly startWorker: () => RecordingWorker
}

/** Key of a run of ours among what is loaded; copies are named by hashes. */
export const runKey = (name: string): string => `run~${name}`

/** Joins a recorder to what is loaded. */
export function runRecordings(options: RunRecordingsOptions): RunRecordings {
  const { dir, catalogue, recorder, loaded, loads, startWorker } = options
  const folder = join(dir, 'recordings')
  /** how far a run had come when its summary was read */
  const revisions = new WeakMap<LoadedRecording, string>()

  const load = async (name: string, file: string, call: CallOptions): Promise<Opened> => {
    const revision = recorder.revision(name)
    const { size_bytes } = await recorder.state(name)
    const identity = { id: catalogue.idOf(file), path: file, name, size_bytes, run: name }
    const entry = await inWorker(startWorker, (link) =>
      loadRecording(link, { key: runKey(name), file, identity, startWorker }, call),
    )
    revisions.set(entry, revision)
    await loaded.add(entry)
    return { recording: entry.recording, reloaded: false }
  }

  return {
    find(asked) {
      const known = catalogue.pathOf(asked)
      if (known !== undefined || dirname(asked) === folder) {
        const path = known ?? asked
        const name = basename(path, '.db')
        return recorder.fileOf(name) === path ? name : undefined
      }
      return recorder.fileOf(asked) === undefined ? undefined : asked
    },
    async open(name, call) {
      const file = recorder.fileOf(name) ?? ''
      const revision = recorder.revision(name)
      const entry = await loaded.use(runKey(name))
      if (entry === undefined) return loads.run(runKey(name), (shared) => load(name, file, shared), call)
      if (revisions.get(entry) !== revision) {
        await entry.reread()
        revisions.set(entry, revision)
      }
      return { recording: entry.recording, reloaded: false }
    },
    listings: () =>
      recorder.runs().map(({ name, bytes, updated_ms, total_frames, status }) => {
        const path = recorder.fileOf(name) ?? ''
        const [id, size_bytes, modified_ms] = [catalogue.idOf(path), bytes, updated_ms]
        return { id, path, name, size_bytes, modified_ms, is_recording: true, total_frames, status }
      }),
  }
}
