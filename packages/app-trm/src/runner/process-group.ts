import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { identifyProcess } from '@causeway/store'

/** Identifies a process even if its number is reused. */
export interface ProcessMark {
  readonly pid: number
  /** Identifies the start of the process. `null` if the process ended or the system does not provide it. */
  readonly started: string | null
}

/** Environment variable that marks every process of an evaluation. */
export const markerName = 'CAUSEWAY_STEP'

export const createMark = (pid: number): ProcessMark => ({ pid, started: identifyProcess(pid) || null })

/** Signals a process group. Returns `false` if it does not exist, is the server's own or may not be signalled. */
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

/** Kills every process with the marker, even outside the group. Returns their number. */
export async function killMarkedProcesses(marker: string): Promise<number> {
  let killedCount = 0
  // Requires two empty listings in a row, because a process may fork during a listing and has no environment when it
  // starts.
  for (let [round, emptyCount] = [0, 0]; round < 8 && emptyCount < 2; round++) {
    const pids = await findMarkedProcesses(marker)
    emptyCount = pids.length === 0 ? emptyCount + 1 : 0
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL')
        killedCount++
      } catch {
        // The process already ended.
      }
    }
    if (emptyCount < 2) await sleep(10)
  }
  return killedCount
}

/** Returns pids, or an empty list if the system has no /proc. */
export async function findMarkedProcesses(marker: string): Promise<readonly number[]> {
  const entries = await readdir('/proc').catch(() => [])
  const pids = await Promise.all(
    entries
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(async (name) => {
        const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
        return environment.split('\0').includes(`${markerName}=${marker}`) ? Number(name) : undefined
      }),
  )
  return pids.filter((pid) => pid !== undefined)
}

export async function killLeftoverProcesses(mark: ProcessMark | null, marker: string): Promise<void> {
  if (mark !== null && mark.started !== null && createMark(mark.pid).started === mark.started)
    signalGroup(mark.pid, 'SIGKILL')
  await killMarkedProcesses(marker)
}
