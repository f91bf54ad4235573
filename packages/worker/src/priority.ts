import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** As a nice value. */
const childPriority = 5

/** Lowers the priority of this thread. Only Linux has thread priorities; on other systems nothing changes. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}

/**
 * Lowers the priority of a child process, so that the server answers while both need the processor. Has no effect on a process
 * that could not be started or has ended.
 */
export function lowerProcessPriority({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(pid), childPriority))
  } catch {}
}

/** The same for a child that was started with `detached`, and for the processes that it starts. */
export function lowerGroupPriority(child: { readonly pid?: number | undefined }): void {
  lowerProcessPriority(child)
  if (process.platform !== 'linux' || child.pid === undefined) return
  try {
    // Linux shares the processor among sessions first (sched(7), autogroup): a nice value has no effect on another session.
    writeFileSync(`/proc/${child.pid}/autogroup`, String(childPriority))
  } catch {}
}
