import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** Nice value of child processes. */
const childPriority = 5

/** Works only on Linux: elsewhere, `setPriority` applies to the whole process. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW)
}

/** Does nothing if the child has ended or did not start. */
export function lowerProcessPriority({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(pid), childPriority))
  } catch {}
}

/** Also lowers the priority of a `detached` process's children. */
export function lowerGroupPriority(child: { readonly pid?: number | undefined }): void {
  lowerProcessPriority(child)
  if (process.platform !== 'linux' || child.pid === undefined) return
  try {
    // Linux divides CPU time among sessions first (sched(7), autogroup), regardless of nice values.
    writeFileSync(`/proc/${child.pid}/autogroup`, String(childPriority))
  } catch {}
}
