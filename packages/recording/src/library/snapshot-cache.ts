import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getAnswersFilePath } from '../formats/answers-file.ts'
import { getColumnsFilePath } from '../formats/columns-file.ts'
import type { Catalogue, Snapshot } from './catalogue.ts'
import { removeCopy } from './copy.ts'

/** Minimum time between writes of a copy's last use. */
const touchIntervalMs = 1000

interface CacheOptions {
  readonly folder: string
  readonly catalogue: Catalogue
  readonly maxBytes: number
  readonly now: () => number
}

/** LRU cache of private copies. */
export class SnapshotCache {
  readonly folder: string
  readonly #catalogue: Catalogue
  readonly #maxBytes: number
  readonly #now: () => number
  #lastTouch = { key: '', ms: 0 }

  constructor({ folder, catalogue, maxBytes, now }: CacheOptions) {
    this.folder = folder
    this.#catalogue = catalogue
    this.#maxBytes = maxBytes
    this.#now = now
  }

  async find(key: string): Promise<string | undefined> {
    if (!this.#catalogue.findSnapshot(key)) return undefined
    const file = this.#getFile(key)
    if (await exists(file)) return file
    this.#catalogue.removeSnapshot(key)
    return undefined
  }

  /** Adds a copy whose file exists. Returns its path. */
  add(key: string, path: string, bytes: number): string {
    this.#catalogue.addSnapshot({ key, path, bytes, used_ms: this.#now() })
    return this.#getFile(key)
  }

  touch(key: string): void {
    const age = this.#now() - this.#lastTouch.ms
    if (key === this.#lastTouch.key && age >= 0 && age < touchIntervalMs) return
    this.#lastTouch = { key, ms: this.#now() }
    this.#catalogue.touchSnapshot(key, this.#lastTouch.ms)
  }

  async resize(key: string): Promise<void> {
    const file = this.#getFile(key)
    const { size } = await stat(file)
    const derivedFiles = [getColumnsFilePath(file), getAnswersFilePath(file)]
    const stats = await Promise.all(derivedFiles.map((path) => stat(path).catch(() => ({ size: 0 }))))
    this.#catalogue.resizeSnapshot(
      key,
      stats.reduce((sum, file) => sum + file.size, size),
    )
  }

  listOthers(path: string, key: string): readonly Snapshot[] {
    return this.#catalogue.listSnapshots().filter((copy) => copy.path === path && copy.key !== key)
  }

  isSuperseded({ key, path }: Snapshot): boolean {
    return this.#catalogue.listSnapshots().findLast((copy) => copy.path === path)?.key !== key
  }

  /** Removes copies until `bytes` more bytes fit. `release` returns `false` if a copy is in use. */
  async makeRoom(bytes: number, release: (snapshot: Snapshot) => Promise<boolean>): Promise<void> {
    let excess = this.#countBytes() + bytes - this.#maxBytes
    for (const snapshot of this.#catalogue.listSnapshots()) {
      if (excess <= 0) return
      if (!(await release(snapshot))) continue
      await this.remove(snapshot.key)
      excess -= snapshot.bytes
    }
  }

  async remove(key: string): Promise<void> {
    this.#catalogue.removeSnapshot(key)
    await removeCopy(this.#getFile(key))
  }

  async sweep(): Promise<void> {
    for (const snapshot of this.#catalogue.listSnapshots()) {
      const isCurrent = !this.isSuperseded(snapshot) && (await exists(this.#getFile(snapshot.key)))
      if (!isCurrent) this.#catalogue.removeSnapshot(snapshot.key)
    }
    const knownFiles = new Set(this.#catalogue.listSnapshots().map(({ key }) => `${key}.db`))
    for (const name of await readdir(this.folder)) {
      if (!knownFiles.has(name.replace(/-(wal|shm|journal|columns|answers)$/, '')))
        await removeCopy(join(this.folder, name))
    }
  }

  health() {
    return {
      snapshots: this.#catalogue.listSnapshots().length,
      snapshot_bytes: this.#countBytes(),
      snapshot_cap_bytes: this.#maxBytes,
    }
  }

  #getFile(key: string): string {
    return join(this.folder, `${key}.db`)
  }

  #countBytes(): number {
    return this.#catalogue.listSnapshots().reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

/** Does not open the file: closing a descriptor of an open SQLite file releases its locks. */
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
