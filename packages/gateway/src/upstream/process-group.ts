import { readdirSync, readFileSync } from 'node:fs'

/**
 * Sends a signal to a process group, on Windows to the process alone. Returns whether it still exists. A group exists as long as one of
 * its processes does, also if its leader has ended.
 */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a process group has a process that is not a zombie. Zombies of other parents can remain for long. */
export function isGroupAlive(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isRunningMember(name, leader))
}

/** proc(5): after the name, field 3 is the state and field 5 the process group. */
function isRunningMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return processGroup === String(group) && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
