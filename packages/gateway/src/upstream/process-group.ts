import { readdirSync, readFileSync } from 'node:fs'
import { canSignal } from '@causeway/protocol'

/** Sends a signal to a process group, on Windows only to the process. Returns whether any process remains. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(canSignal() ? -leader : leader, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether the group has a process other than zombies, which parents may leave for a long time. */
export function isGroupAlive(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false
  return listProcesses()?.some((pid) => findGroup(pid) === leader) ?? true
}

/** Resident bytes by leader. Empty without `/proc`. */
export function measureGroups(leaders: readonly number[]): ReadonlyMap<number, number> {
  const bytesByGroup = new Map<number, number>()
  if (leaders.length === 0) return bytesByGroup
  const leaderSet = new Set(leaders)
  for (const pid of listProcesses() ?? []) {
    const leader = findGroup(pid)
    if (leader !== undefined && leaderSet.has(leader))
      bytesByGroup.set(leader, (bytesByGroup.get(leader) ?? 0) + readResidentBytes(pid))
  }
  return bytesByGroup
}

/** Returns `undefined` without `/proc`, or if the process has too many open files. */
function listProcesses(): readonly string[] | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return undefined
  }
}

function readResidentBytes(pid: string): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    // The process has ended.
    return 0
  }
}

/**
 * Returns a process's group unless it is a zombie or dead. proc(5): after the name, field 3 is the state and
 * field 5 the process group.
 */
function findGroup(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : Number(processGroup)
  } catch {
    return undefined
  }
}
