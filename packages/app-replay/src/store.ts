/** The recordings that Replay answers from: a library over the configured folders, shared by every client. */
import { extname } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { openLibrary, type RecordingIdentity, type RecordingLibrary } from '@causeway/recording'

/** The open library, and which of its recordings clients have loaded. */
export interface Replay extends Pick<RecordingLibrary, 'list' | 'open' | 'health' | 'close'> {
  /** Recordings opened since the start, in the order of their first use. */
  loaded(): readonly RecordingIdentity[]
}

/** TypeScript beside the sources, JavaScript beside the build: the compiler does not rewrite this name. */
const worker = new URL(`./analysis-worker${extname(import.meta.url)}`, import.meta.url)

/** Opens the library in the data folder; the setting `snapshotCapBytes` bounds its private copies. */
export async function openReplay({ dir, roots, log, now, changed, settings }: Env): Promise<Replay> {
  const { snapshotCapBytes } = settings
  const limits = typeof snapshotCapBytes === 'number' ? { snapshotBytes: snapshotCapBytes } : {}
  return replayOver(await openLibrary({ dir, roots, log, now, limits, worker }), changed)
}

/** Replay over any library; a recording that is new or has changed is announced. */
export function replayOver(library: RecordingLibrary, changed: Env['changed']): Replay {
  const loaded = new Map<string, RecordingIdentity>()
  return {
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
    health: () => library.health(),
    close: () => library.close(),
    loaded: () => [...loaded.values()],
  }
}
