/** Groups of processes: known again after a restart, and ended whole. */

import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { processIdentity } from '@causeway/store'

/** A process that can be told from a later one with the same number. */
export interface ProcessMark {
  readonly pid: number
  /** what tells it from one of another start or another boot; null where it has ended or the system does not tell */
  readonly started: string | null
}

/** Environment variable that every process of an evaluation carries. */
export const markerName = 'CAUSEWAY_STEP'

/** The mark of a process that runs now. */
export const markOf = (pid: number): ProcessMark => ({ pid, started: processIdentity(pid) || null })

/** Signals a group; false where there is none. Numbers that would mean this process's own group are refused. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return false
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

/** Ends processes that carry the marker, also those that have left their group; tells how many there were. */
export async function endMarked(marker: string): Promise<number> {
  let ended = 0
  // A process may fork while the list is read, and shows no environment while it begins: none must be seen twice in a row.
  for (let [round, empty] = [0, 0]; round < 8 && empty < 2; round++) {
    const found = await marked(marker)
    empty = found.length === 0 ? empty + 1 : 0
    for (const pid of found) if (end(pid)) ended++
    if (empty < 2) await pause(10)
  }
  return ended
}

function end(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false // it was faster
  }
}

/** Numbers of the processes that carry the marker; none on a system without /proc. */
export async function marked(marker: string): Promise<readonly number[]> {
  const entries = await readdir('/proc').catch(() => [])
  const wanted = `${markerName}=${marker}`
  const found = await Promise.all(
    entries
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(async (name) => {
        const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
        return environment.split('\0').includes(wanted) ? Number(name) : undefined
      }),
  )
  return found.filter((pid) => pid !== undefined)
}

/** Ends what an earlier server left running, if it is still the same process. */
export async function endLeftover(mark: ProcessMark | null, marker: string): Promise<void> {
  if (mark !== null && mark.started !== null && markOf(mark.pid).started === mark.started)
    signalGroup(mark.pid, 'SIGKILL')
  await endMarked(marker)
}
