/** Ends its process if a query exceeds its time or memory, or if the parent process has ended. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { endReportFd, type QueryEnd } from './query-types.ts'

const { deadlineMs, parent } = workerData as { readonly deadlineMs: number; readonly parent: number }

/** In bytes. SQLite's own limits do not apply in this build. */
const maxMemoryBytes = 512 * 1024 ** 2

const checkIntervalMs = 20

/** Reports the reason and kills the process, whose main thread is blocked. */
const end = (reason: QueryEnd): void => {
  try {
    writeSync(endReportFd, reason)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

const deadline = performance.now() + deadlineMs
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() > maxMemoryBytes) end('memory')
  if (performance.now() > deadline) end('deadline')
}, checkIntervalMs)
