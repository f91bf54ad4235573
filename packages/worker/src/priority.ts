import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** A nice value. */
const childPriority = 5

/** Only on Linux: other systems have no thread priorities. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}

/** Lets the server answer while both need the processor. Ignores a process that ended or did not start. */
export function lowerProcessPriority({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(pid), childPriority))
  } catch {}
}

/** Includes the children of a `detached` process. */
export function lowerGroupPriority(child: { readonly pid?: number | undefined }): void {
  lowerProcessPriority(child)
  if (process.platform !== 'linux' || child.pid === undefined) return
  try {
    // Linux shares the processor among sessions first (sched(7), autogroup), regardless of nice values.
    writeFileSync(`/proc/${child.pid}/autogroup`, String(childPriority))
  } catch {}
}
