/** The recordings that Replay answers from: a library over the configured folders, shared by every client. */
import { type Env, numberSetting } from '@causeway/app-kit'
import { openPicture } from '@causeway/picture'
import {
  libraryDefaults,
  openLibrary,
  type RecordingIdentity,
  type RecordingLibrary,
} from '@causeway/recording'
import { workerFile } from '@causeway/worker'
import { firstQuestions } from './diagnose.ts'
import { type Notebook, openNotebook } from './notebook.ts'
import { keepPictures, type Pictures } from './pictures.ts'

/** The open library, and which of its recordings clients have loaded. */
export interface Replay
  extends Pick<
    RecordingLibrary,
    'list' | 'open' | 'recorder' | 'importRecording' | 'memory' | 'health' | 'close'
  > {
  /** Recordings opened since the start, in the order of their first use. */
  loaded(): readonly RecordingIdentity[]
  readonly pictures: Pictures
  readonly notebook: Notebook
}

/** Opens the library in the data folder; the settings bound its private copies and the runs that it records. */
export async function openReplay(env: Env): Promise<Replay> {
  const { dir, roots, log, now, newId, changed, settings } = env
  const { snapshotBytes, recorder } = libraryDefaults
  const days = numberSetting(settings, 'recordingsMaxAgeDays')
  const limits = {
    snapshotBytes: numberSetting(settings, 'snapshotCapBytes') ?? snapshotBytes,
    recorder: {
      ...recorder,
      bytes: numberSetting(settings, 'recordingsCapBytes') ?? recorder.bytes,
      ageMs: days === undefined ? recorder.ageMs : days * 86_400_000,
    },
  }
  const pictures = keepPictures(openPicture({ log }), newId)
  const notebook = openNotebook(dir, env)
  const worker = workerFile('analysis-worker', import.meta.url)
  const library = await openLibrary({ dir, roots, log, now, limits, worker, foreseen: firstQuestions })
  return replayOver(library, { pictures, notebook }, changed)
}

/** Replay over any library; a recording that is new or has changed is announced. */
function replayOver(
  library: RecordingLibrary,
  { pictures, notebook }: Pick<Replay, 'pictures' | 'notebook'>,
  changed: Env['changed'],
): Replay {
  const loaded = new Map<string, RecordingIdentity>()
  const latest = (id: string): string => `replay://recordings/${encodeURIComponent(id)}/frames/latest`
  const grown = paced((name) => {
    void library.recorder.state(name).then(
      ({ recording }) => changed.resource(latest(recording)),
      () => {}, // removed meanwhile
    )
  }, hintMs)
  library.recorder.onStored(grown.tell)
  return {
    recorder: library.recorder,
    importRecording: (name, from, options) => library.importRecording(name, from, options),
    list: (directory) => library.list(directory),
    async open(idOrPath, options) {
      const result = await library.open(idOrPath, options)
      const { identity } = result.recording
      const isNew = !loaded.has(identity.id)
      loaded.set(identity.id, identity)
      if (isNew) changed.resources()
      if (result.reloaded)
        for (const part of ['metadata', 'frames/latest'])
          changed.resource(`replay://recordings/${encodeURIComponent(identity.id)}/${part}`)
      return result
    },
    memory: library.memory,
    health: () => library.health(),
    async close() {
      await pictures.renderer.close()
      await library.close()
      grown.stop()
      notebook.close()
    },
    loaded: () => [...loaded.values()],
    pictures,
    notebook,
  }
}

/** Least time between two announcements that a recording has grown, ms. */
const hintMs = 200

/** Tells of each key at once, and of what follows within the pause once, at its end: nothing is left untold. */
function paced(tell: (key: string) => void, pauseMs: number): { tell(key: string): void; stop(): void } {
  const waiting = new Map<string, { readonly timer: NodeJS.Timeout; isDue: boolean }>()
  const begin = (key: string): void => {
    tell(key)
    const timer = setTimeout(() => {
      const isDue = waiting.get(key)?.isDue === true
      waiting.delete(key)
      if (isDue) begin(key)
    }, pauseMs)
    waiting.set(key, { timer: timer.unref(), isDue: false })
  }
  return {
    tell(key) {
      const entry = waiting.get(key)
      if (entry === undefined) begin(key)
      else entry.isDue = true
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}
