/** A disk whose writes fail as planned: a library of C that is loaded into the server, compiled by the test. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What happens to a write; see `fault-shim.c`. */
export type Fault = 'error' | 'short' | 'sync' | 'torn'

const source = fileURLToPath(new URL('./fault-shim.c', import.meta.url))

/** Whether this system can load the library: Linux with a compiler of C. */
export const canInjectFaults =
  process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0

/** The disk below a folder, as a server sees it that is started with `env`. */
export class FaultyDisk {
  /** Variables of a server that uses the disk. */
  readonly env: Readonly<Record<string, string>>
  /** Holds every file as it was at its last flush; empty unless `keepSynced` is set. */
  readonly syncedFolder: string
  readonly #plan: string

  /** `folder` is for the library and its plans; `dir` is where writes fail. */
  constructor(folder: string, dir: string, { keepSynced = false } = {}) {
    mkdirSync(folder, { recursive: true })
    const library = join(folder, 'fault-shim.so')
    this.#plan = join(folder, 'plan')
    this.syncedFolder = join(folder, 'synced')
    const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-pthread'], {
      encoding: 'utf8',
    })
    if (compiled.status !== 0) throw new Error(`fault-shim.c cannot be compiled: ${compiled.stderr}`)
    if (keepSynced) mkdirSync(this.syncedFolder)
    this.env = {
      LD_PRELOAD: library,
      FAULT_DIR: dir,
      FAULT_PLAN: this.#plan,
      ...(keepSynced && { FAULT_SYNCED: this.syncedFolder }),
    }
  }

  /** Plans a fault for the nth write to a path that contains `part`. */
  plan(fault: Fault, nth: number, part: string): void {
    rmSync(`${this.#plan}.done`, { force: true })
    writeFileSync(this.#plan, `${fault} ${nth} ${part}`)
  }

  /** Drops a plan that did not hit. */
  cancel(): void {
    rmSync(this.#plan, { force: true })
  }

  /** Whether the planned fault happened. */
  get hasHit(): boolean {
    return existsSync(`${this.#plan}.done`)
  }
}
