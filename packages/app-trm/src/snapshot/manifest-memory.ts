import type { Manifest } from './manifest.ts'
import type { SnapshotId } from './types.ts'

/** Lists of snapshots that were read or written, which never change; the longest kept make room. */
export interface ManifestMemory {
  get(id: SnapshotId): Manifest | undefined
  keep(id: SnapshotId, manifest: Manifest): Manifest
  delete(id: SnapshotId): void
  /** Bytes of what is kept, about. */
  bytes(): number
  /** Forgets lists until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
}

/** Most snapshots whose lists are kept. */
const most = 500

/** Bytes of an entry beside the letters of its path: ids, numbers and the object. */
const entryBytes = 200

/** Keeps nothing yet. */
export function manifestMemory(): ManifestMemory {
  const kept = new Map<SnapshotId, { readonly manifest: Manifest; readonly bytes: number }>()
  let bytes = 0
  const forget = (id: SnapshotId): number => {
    const given = kept.get(id)?.bytes ?? 0
    kept.delete(id)
    bytes -= given
    return given
  }
  return {
    get: (id) => kept.get(id)?.manifest,
    keep(id, manifest) {
      forget(id)
      const size = manifest.entries.reduce((sum, { path }) => sum + path.length + entryBytes, 0)
      kept.set(id, { manifest, bytes: size })
      bytes += size
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) forget(oldest)
      return manifest
    },
    delete: (id) => void forget(id),
    bytes: () => bytes,
    shrink(wanted) {
      let given = 0
      for (const id of [...kept.keys()]) if (given < wanted) given += forget(id)
      return given
    },
  }
}
