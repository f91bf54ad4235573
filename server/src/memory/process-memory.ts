import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

export interface MemoryUsage {
  /** Heaps, buffers and SQLite caches, without mapped files. */
  readonly usedBytes: number
  readonly heapBytes: number
  readonly heapLimitBytes: number
}

export function readMemoryUsage(): MemoryUsage {
  const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics()
  return { usedBytes: readAnonymousMemory() ?? readResidentMemory() ?? heapBytes, heapBytes, heapLimitBytes }
}

/** Returns half of the machine's memory, or four fifths of a smaller control group limit. */
export function getDefaultLimitBytes(): number {
  // 0 means unknown; without a limit, the number is huge.
  const groupLimit = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.floor(Math.min(totalmem() / 2, groupLimit * 0.8))
}

/** Blocks the main thread for 0.1 to 0.2 s with a heap of 50 to 300 MB. */
export async function collectGarbage(): Promise<void> {
  const session = new Session()
  session.connect()
  try {
    // V8 collects in a later task, while the session is connected.
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}

/** Excludes mapped files, which the system can reclaim. Works only on Linux, see `proc_pid_status(5)`. */
function readAnonymousMemory(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const status = tryRead(() => readFileSync('/proc/self/status', 'latin1'))
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(status ?? '') ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

const readResidentMemory = () => tryRead(() => process.memoryUsage.rss())

/** Returns `undefined` if `/proc` cannot be read because too many files are open. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
