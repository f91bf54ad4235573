/** Ends its process if a query takes too long or too much memory, or if the process that asked has ended. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { endReportFd, type QueryEnd } from './query-types.ts'

const { deadlineMs, parent } = workerData as { readonly deadlineMs: number; readonly parent: number }

/** Memory of the whole process, bytes; SQLite's own limits do not count it in this build. */
const maxMemory = 512 * 1024 ** 2

const checkIntervalMs = 20

/** Reports why, then ends the process by the one signal that does not need the main thread, which is busy. */
const end = (reason: QueryEnd): void => {
  try {
    writeSync(endReportFd, reason)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

const until = performance.now() + deadlineMs
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() > maxMemory) end('memory')
  if (performance.now() > until) end('deadline')
}, checkIntervalMs)
