import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Memory of the process, in bytes. */
export interface MemoryUsage {
  /** Heaps of every thread, buffers and SQLite caches, without mapped files. */
  readonly usedBytes: number
  /** Used heap of the main thread. */
  readonly heapBytes: number
  readonly heapLimitBytes: number
}

export function readMemoryUsage(): MemoryUsage {
  const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics()
  return { usedBytes: readAnonymousMemory() ?? process.memoryUsage.rss(), heapBytes, heapLimitBytes }
}

/** Half of the machine's memory, or four fifths of the control group's limit if that is less. */
export function getDefaultLimitBytes(): number {
  // 0 if the system does not report a limit, and a huge value without a limit.
  const groupLimit = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.floor(Math.min(totalmem() / 2, groupLimit * 0.8))
}

/**
 * Collects the garbage of the main thread; blocks it for 0.1 to 0.2 s with a heap of 50 to 300 MB. V8 ignores memory
 * outside its heap.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session()
  session.connect()
  try {
    // V8 collects in a later task, and only if the session is still connected.
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}

/**
 * Excludes pages of mapped files, such as a large recording, which the system reclaims when needed. Linux only, see
 * `proc_pid_status(5)`.
 */
function readAnonymousMemory(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const status = readFileSync('/proc/self/status', 'latin1')
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}
