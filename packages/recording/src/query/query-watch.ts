/** Ends its process where a question takes too long, too much memory, or has nobody left who asked it. */
import { workerData } from 'node:worker_threads'

const { deadlineMs, parent } = workerData as { readonly deadlineMs: number; readonly parent: number }

/** Memory of the whole process, bytes; SQLite's own limits do not count it in this build. */
const mostMemory = 512 * 1024 ** 2

const watchEveryMs = 20

/** The one signal that needs no turn of the main thread, which is busy; who asked knows the cause by the time. */
const end = () => process.kill(process.pid, 'SIGKILL')

const until = performance.now() + deadlineMs
setInterval(() => {
  if (process.memoryUsage.rss() > mostMemory || performance.now() > until || process.ppid !== parent) end()
}, watchEveryMs)
