import { basename, dirname, join } from 'node:path'
import { type CallOptions, initializeWorker, type SharedCalls } from '@causeway/worker'
import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { Recorder } from '../recorder/recorder.ts'
import type { Catalogue } from './catalogue.ts'
import type { Listing, OpenResult } from './library-types.ts'
import { type LoadedRecording, loadRecording } from './loaded-recording.ts'
import type { LoadedRecordings } from './loaded-recordings.ts'

interface RunRecordingsOptions {
  readonly dir: string
  readonly catalogue: Catalogue
  readonly recorder: Recorder
  readonly loaded: LoadedRecordings
  readonly loads: SharedCalls<OpenResult>
  readonly startWorker: () => RecordingWorker
}

export const getRunKey = (name: string): string => `run~${name}`

export class RunRecordings {
  readonly #options: RunRecordingsOptions
  readonly #revisions = new WeakMap<LoadedRecording, string>()

  constructor(options: RunRecordingsOptions) {
    this.#options = options
  }

  /** Accepts an id, path or name. An id takes precedence over a name. */
  find(idOrPath: string): string | undefined {
    const { dir, catalogue, recorder } = this.#options
    const knownPath = catalogue.findPath(idOrPath)
    if (knownPath !== undefined || dirname(idOrPath) === join(dir, 'recordings')) {
      const path = knownPath ?? idOrPath
      const name = basename(path, '.db')
      return recorder.findFile(name) === path ? name : undefined
    }
    return recorder.findFile(idOrPath) === undefined ? undefined : idOrPath
  }

  async open(name: string, options: CallOptions): Promise<OpenResult> {
    const { recorder, loaded, loads } = this.#options
    const key = getRunKey(name)
    const revision = recorder.getRevision(name)
    const entry = await loaded.use(key)
    if (entry === undefined) return loads.run(key, (shared) => this.#load(name, shared), options)
    if (this.#revisions.get(entry) !== revision) {
      await entry.reread()
      this.#revisions.set(entry, revision)
    }
    return { recording: entry.recording, reloaded: false }
  }

  list(): readonly Listing[] {
    const { recorder, catalogue } = this.#options
    const sizes = catalogue.summaries.listSizes()
    return recorder.listRuns().map(({ name, bytes, updated_ms, total_frames, status }) => {
      const path = recorder.findFile(name) ?? ''
      const [id, size_bytes, modified_ms] = [catalogue.getId(path), bytes, updated_ms]
      const size = sizes.get(id)
      // A continued run may have more bodies than its summary.
      const currentSize = size?.revision === recorder.getRevision(name) ? size : undefined
      return {
        ...{ id, path, name, size_bytes, modified_ms, is_recording: true, total_frames, era: 'run', status },
        ...(currentSize && { bodies: currentSize.bodies }),
        ...(currentSize && currentSize.duration_s !== null && { duration_s: currentSize.duration_s }),
      }
    })
  }

  async #load(name: string, options: CallOptions): Promise<OpenResult> {
    const { recorder, catalogue, loaded, startWorker } = this.#options
    const file = recorder.findFile(name) ?? ''
    const revision = recorder.getRevision(name)
    const { size_bytes } = await recorder.state(name)
    const identity = { id: catalogue.getId(file), path: file, name, size_bytes, run: name }
    const entry = await initializeWorker(startWorker(), (link) =>
      loadRecording(link, { key: getRunKey(name), file, identity, startWorker }, options),
    )
    this.#revisions.set(entry, revision)
    await loaded.add(entry)
    return { recording: entry.recording, reloaded: false }
  }
}
