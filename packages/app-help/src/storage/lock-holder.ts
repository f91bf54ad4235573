import { hostname } from 'node:os'
import { identifyProcess } from '@causeway/store'

export const makeHolder = (name: string): string =>
  JSON.stringify([hostname(), process.pid, identifyProcess(process.pid), name])

/** Whether the process of a holder ran on this machine and has exited. */
export function isDead(holder: string): boolean {
  try {
    const [host, pid, identity] = JSON.parse(holder) as [string, number, string]
    return host === hostname() && identifyProcess(pid) !== identity
  } catch {
    // The holder is from an earlier version.
    return false
  }
}
