/** A disk with planned write failures: a C library that the test compiles and preloads into the server. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Kind of a write failure, as described in `fault-shim.c`. */
export type Fault = 'error' | 'short' | 'sync' | 'torn'

const source = fileURLToPath(new URL('./fault-shim.c', import.meta.url))

/** Whether this system can load the library: Linux with a C compiler. */
export const canInjectFaults =
  process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0

/** Injects write failures below a folder into servers that are started with `env`. */
export class FaultyDisk {
  /** Variables of a server that uses the disk. */
  readonly env: Readonly<Record<string, string>>
  /** Contains each file as of its last flush, if `keepSynced` is set. */
  readonly syncedFolder: string
  /** Contains the successive states of the folder as `00001`, `00002` and so on, if `saveStates` is set. */
  readonly statesFolder: string
  readonly #plan: string

  /** `folder` is for the library and its plans; `dir` is where writes fail. */
  constructor(folder: string, dir: string, { keepSynced = false, saveStates = false } = {}) {
    mkdirSync(folder, { recursive: true })
    const library = join(folder, 'fault-shim.so')
    this.#plan = join(folder, 'plan')
    this.syncedFolder = join(folder, 'synced')
    this.statesFolder = join(folder, 'states')
    const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-pthread'], {
      encoding: 'utf8',
    })
    if (compiled.status !== 0) throw new Error(`fault-shim.c cannot be compiled: ${compiled.stderr}`)
    if (keepSynced) mkdirSync(this.syncedFolder)
    if (saveStates) mkdirSync(this.statesFolder)
    this.env = {
      LD_PRELOAD: library,
      FAULT_DIR: dir,
      FAULT_PLAN: this.#plan,
      ...(keepSynced && { FAULT_SYNCED: this.syncedFolder }),
      ...(saveStates && { FAULT_STATES: this.statesFolder }),
    }
  }

  /** Plans a fault for the nth write to a path that contains `part`. */
  plan(fault: Fault, nth: number, part: string): void {
    rmSync(`${this.#plan}.done`, { force: true })
    writeFileSync(this.#plan, `${fault} ${nth} ${part}`)
  }

  /** Cancels the planned fault. */
  cancel(): void {
    rmSync(this.#plan, { force: true })
  }

  /** Whether the planned fault happened. */
  get hasHit(): boolean {
    return existsSync(`${this.#plan}.done`)
  }
}
