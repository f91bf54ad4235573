import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** A process, told apart from a later one with the same number. */
export interface Process {
  readonly pid: number
  /** When it began, in the system's own unit; empty where the system does not tell. */
  readonly started: string
}

/** Who starts the server. */
export interface Holder {
  readonly starter: Process
  /** The server as soon as there is one. It keeps the lock valid though the starter has died. */
  readonly server?: Process
}

/** The lock that this process holds. */
export interface StartLock {
  /** Adds the server that was started. */
  note(server: Process): void
  release(): void
}

/** Takes the lock file, also from a holder that is gone; undefined while another process has it. */
export function takeStartLock(file: string, starter: Process): StartLock | undefined {
  const id = randomUUID()
  const mine = (server?: Process): string => JSON.stringify({ id, starter, server })
  if (!create(file, mine()) && !(removeStale(file) && create(file, mine()))) return undefined
  const isMine = (): boolean => idIn(textIn(file)) === id
  return {
    note(server) {
      const complete = `${file}.${randomUUID()}`
      writeFileSync(complete, mine(server), { mode: 0o600 })
      if (isMine()) renameSync(complete, file)
      else rmSync(complete)
    },
    release() {
      if (isMine()) rmSync(file, { force: true })
    },
  }
}

/** The process with this number as the system tells it, undefined where there is none. */
export function processOf(pid: number): Process | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined
  }
  const stat = textIn(`/proc/${pid}/stat`)
  if (stat === undefined) return { pid, started: '' }
  // The name in brackets may hold blanks and brackets; the state is field 3, the time of the start field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? undefined : { pid, started: fields[19] ?? '' }
}

function isAlive(known: Process | undefined): boolean {
  const now = known && processOf(known.pid)
  return now !== undefined && now.started === known?.started
}

/** A link to a complete file is made at once or not at all: nobody reads a lock half written. */
function create(file: string, text: string): boolean {
  const complete = `${file}.${randomUUID()}`
  writeFileSync(complete, text, { mode: 0o600 })
  try {
    return linkIfAbsent(complete, file)
  } finally {
    rmSync(complete, { force: true })
  }
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

/**
 * Removes the lock of a holder that is gone; true when there is none any more. Another process may have replaced it
 * since it was judged, so the file is renamed aside, compared, and put back when it is somebody else's.
 */
function removeStale(file: string): boolean {
  const judged = textIn(file)
  if (judged === undefined) return true
  const { starter, server } = holderIn(judged)
  if (isAlive(starter) || isAlive(server)) return false
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
  try {
    if (textIn(aside) === judged) return true
    linkIfAbsent(aside, file)
    return false
  } finally {
    rmSync(aside, { force: true })
  }
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A process may end while its file is read.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

/** A text that no version of this file wrote belongs to nobody. */
function holderIn(text: string): Partial<Holder> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Holder>
  } catch {
    return {}
  }
}

const idIn = (text: string | undefined): unknown =>
  text === undefined ? undefined : (holderIn(text) as { id?: unknown }).id
