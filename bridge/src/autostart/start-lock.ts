import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { asObject } from '@causeway/protocol'
import { parseJson } from '../stdio/json.ts'

/** A process. Its start time distinguishes it from a later process with the same pid. */
export interface Process {
  readonly pid: number
  /** In a system-specific unit; empty if unknown. */
  readonly started: string
}

export interface Holder {
  readonly starter: Process
  /** While the server runs, the lock is valid even if the starter has exited. */
  readonly server?: Process
}

export class StartLock {
  readonly #path: string
  readonly #starter: Process
  readonly #id = crypto.randomUUID()

  private constructor(path: string, starter: Process) {
    this.#path = path
    this.#starter = starter
  }

  /** Returns `undefined` if another running process holds the lock. Replaces the lock of an exited process. */
  static take(path: string, starter: Process): StartLock | undefined {
    const lock = new StartLock(path, starter)
    return lock.#create() || (removeStale(path) && lock.#create()) ? lock : undefined
  }

  setServer(server: Process): void {
    const temporaryPath = writeTemporaryFile(this.#path, this.#format(server))
    if (this.#isHeld()) renameSync(temporaryPath, this.#path)
    else rmSync(temporaryPath)
  }

  release(): void {
    if (this.#isHeld()) rmSync(this.#path, { force: true })
  }

  /** Writes the file before linking it to its path, so that no process reads an incomplete lock. */
  #create(): boolean {
    const temporaryPath = writeTemporaryFile(this.#path, this.#format())
    try {
      return linkIfAbsent(temporaryPath, this.#path)
    } finally {
      rmSync(temporaryPath, { force: true })
    }
  }

  #format(server?: Process): string {
    return JSON.stringify({ id: this.#id, starter: this.#starter, server })
  }

  #isHeld(): boolean {
    return parseHolder(readText(this.#path)).id === this.#id
  }
}

export function findProcess(pid: number): Process | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined
  }
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return { pid, started: '' }
  // The process name in parentheses may contain spaces. Field 3 is the state, field 22 the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? undefined : { pid, started: fields[19] ?? '' }
}

function isRunning(expectedProcess: Process | undefined): boolean {
  const current = expectedProcess && findProcess(expectedProcess.pid)
  return current !== undefined && current.started === expectedProcess?.started
}

/** Removes a lock whose processes have exited. Returns `false` if the lock is valid or was replaced meanwhile. */
function removeStale(path: string): boolean {
  const text = readText(path)
  if (text === undefined) return true
  const { starter, server } = parseHolder(text)
  if (isRunning(starter) || isRunning(server)) return false
  const renamedPath = `${path}.${crypto.randomUUID()}`
  try {
    renameSync(path, renamedPath)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
  try {
    if (readText(renamedPath) === text) return true
    linkIfAbsent(renamedPath, path)
    return false
  } finally {
    rmSync(renamedPath, { force: true })
  }
}

function writeTemporaryFile(path: string, text: string): string {
  const temporaryPath = `${path}.${crypto.randomUUID()}`
  writeFileSync(temporaryPath, text, { mode: 0o600 })
  return temporaryPath
}

function linkIfAbsent(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ESRCH: the process exited during the read.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

const parseHolder = (text = ''): Partial<Holder> & { readonly id?: unknown } =>
  asObject(parseJson(Buffer.from(text)))
