import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** As a nice value. */
const childPriority = 5

/** Only on Linux; other systems have no thread priorities. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}

/**
 * Lets the server answer while both need the processor. Ignores a process that has ended or did not start.
 */
export function lowerProcessPriority({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(pid), childPriority))
  } catch {}
}

/** Includes the children of a process that was started with `detached`. */
export function lowerGroupPriority(child: { readonly pid?: number | undefined }): void {
  lowerProcessPriority(child)
  if (process.platform !== 'linux' || child.pid === undefined) return
  try {
    // Linux shares the processor among sessions first (sched(7), autogroup), whatever the nice value.
    writeFileSync(`/proc/${child.pid}/autogroup`, String(childPriority))
  } catch {}
}
