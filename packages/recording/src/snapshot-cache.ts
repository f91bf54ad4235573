import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { answersFileOf } from './answers-file.ts'
import type { Catalogue, Snapshot } from './catalogue.ts'
import { columnsFileOf } from './columns-file.ts'
import { removeCopy } from './copy.ts'

/** The private copies on disk, kept under a byte cap. */
export interface SnapshotCache {
  readonly folder: string
  /** The file of a copy, or undefined where there is none (any more). */
  find(key: string): Promise<string | undefined>
  /** Takes up a copy that stands at its place already. */
  add(key: string, path: string, bytes: number): string
  /** Notes that a copy is used now; of the one that was used last, once a second. */
  touch(key: string): void
  /** Reads the size again, after indexes or columns were added. */
  resize(key: string): Promise<void>
  /** Copies of other states of a file. */
  others(path: string, key: string | undefined): readonly Snapshot[]
  /** True where a copy of a later state of the same file exists. */
  isSuperseded(snapshot: Snapshot): boolean
  /** Removes copies until `bytes` more fit under the cap; `release` lets go of one, or answers false. */
  makeRoom(bytes: number, release: (snapshot: Snapshot) => Promise<boolean>): Promise<void>
  remove(key: string): Promise<void>
  /** Removes copies of earlier states and what a crash left behind; only before anything is loaded. */
  sweep(): Promise<void>
  health(): { snapshots: number; snapshot_bytes: number; snapshot_cap_bytes: number }
}

/** Opens the cache over a folder that exists. `capBytes` bounds the copies that are not in use. */
export function snapshotCache(
  folder: string,
  catalogue: Catalogue,
  capBytes: number,
  now: () => number,
): SnapshotCache {
  const fileOf = (key: string) => join(folder, `${key}.db`)
  const total = () => catalogue.snapshots().reduce((sum, { bytes }) => sum + bytes, 0)
  const isSuperseded = ({ key, path }: Snapshot) =>
    catalogue.snapshots().findLast((copy) => copy.path === path)?.key !== key
  let last = { key: '', ms: 0 }
  const remove = async (key: string) => {
    catalogue.removeSnapshot(key)
    await removeCopy(fileOf(key))
  }
  return {
    folder,
    async find(key) {
      if (!catalogue.snapshot(key)) return undefined
      if (await exists(fileOf(key))) return fileOf(key)
      catalogue.removeSnapshot(key)
      return undefined
    },
    add(key, path, bytes) {
      catalogue.addSnapshot({ key, path, bytes, used_ms: now() })
      return fileOf(key)
    },
    touch(key) {
      // A client asks about one recording hundreds of times a second, and each note is a write to the disk.
      const age = now() - last.ms
      if (key === last.key && age >= 0 && age < 1000) return
      last = { key, ms: now() }
      catalogue.touchSnapshot(key, last.ms)
    },
    async resize(key) {
      const { size } = await stat(fileOf(key))
      const beside = [columnsFileOf(fileOf(key)), answersFileOf(fileOf(key))]
      const more = await Promise.all(beside.map((file) => stat(file).catch(() => ({ size: 0 })))) // not made yet
      catalogue.resizeSnapshot(
        key,
        more.reduce((sum, file) => sum + file.size, size),
      )
    },
    isSuperseded,
    others: (path, key) => catalogue.snapshots().filter((copy) => copy.path === path && copy.key !== key),
    async makeRoom(bytes, release) {
      let over = total() + bytes - capBytes
      for (const snapshot of catalogue.snapshots()) {
        if (over <= 0) return
        if (!(await release(snapshot))) continue
        await remove(snapshot.key)
        over -= snapshot.bytes
      }
    },
    remove,
    async sweep() {
      for (const snapshot of catalogue.snapshots()) {
        const isKept = !isSuperseded(snapshot) && (await exists(fileOf(snapshot.key)))
        if (!isKept) catalogue.removeSnapshot(snapshot.key)
      }
      const known = new Set(catalogue.snapshots().map(({ key }) => `${key}.db`))
      for (const name of await readdir(folder)) {
        if (!known.has(name.replace(/-(wal|shm|journal|columns|answers)$/, '')))
          await removeCopy(join(folder, name))
      }
    },
    health: () => ({
      snapshots: catalogue.snapshots().length,
      snapshot_bytes: total(),
      snapshot_cap_bytes: capBytes,
    }),
  }
}

/** True where there is such a file. By name only: a descriptor on a file that SQLite has open would drop its locks. */
export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw error
  }
}
