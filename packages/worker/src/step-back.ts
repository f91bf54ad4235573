import { constants, setPriority } from 'node:os'

/**
 * Lets the other threads go first wherever there are more of them than processors; a worker calls it whose work nobody
 * waits for. On Linux a priority belongs to the thread that asks; elsewhere it would be the whole process, and nothing is
 * changed.
 */
export function stepBack(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}
