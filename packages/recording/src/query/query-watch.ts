/** Ends its process where a question takes too long, too much memory, or has nobody left who asked it. */
import { workerData } from 'node:worker_threads'

const { deadlineMs, parent } = workerData as { readonly deadlineMs: number; readonly parent: number }

/** Memory of the whole process, bytes; SQLite's own limits do not count it in this build. */
const mostMemory = 512 * 1024 ** 2

const watchEveryMs = 20

/** Exit codes cannot be set while the main thread is busy: a signal of its own tells each cause. */
const end = (signal: 'SIGKILL' | 'SIGTERM') => process.kill(process.pid, signal)

const until = performance.now() + deadlineMs
setInterval(() => {
  if (process.memoryUsage.rss() > mostMemory) end('SIGTERM')
  if (performance.now() > until || process.ppid !== parent) end('SIGKILL')
}, watchEveryMs)
