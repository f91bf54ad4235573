/** How much memory the process has, and how much it may have. Bytes. */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** One look at the memory of the process. */
export interface MemoryReading {
  /** All memory that is its own: heaps of every thread, buffers, caches of SQLite. */
  readonly usedBytes: number
  /** Used heap of the server's own thread, and the cap of it. */
  readonly heapBytes: number
  readonly heapLimitBytes: number
}

/** Reads now. */
export function readMemory(): MemoryReading {
  const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics()
  return { usedBytes: ownMemory() ?? process.memoryUsage.rss(), heapBytes, heapLimitBytes }
}

/** Half of the memory of the machine, or four fifths of what the control group of the process may have. */
export function defaultLimitBytes(): number {
  // 0 where the system does not say, and more than any machine has where there is no such limit.
  const group = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.floor(Math.min(totalmem() / 2, group * 0.8))
}

/**
 * Without the pages of mapped files, which the system takes back by itself when it needs them: a recording of a gigabyte
 * that is being read is no memory that anybody lacks. Linux alone tells them apart, `proc_pid_status(5)`.
 */
function ownMemory(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const status = readFileSync('/proc/self/status', 'latin1')
  const [, anonymous] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? []
  return anonymous === undefined ? undefined : Number(anonymous) * 1024
}
