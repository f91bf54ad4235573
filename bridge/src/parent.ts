/**
 * Calls back when the process that started this one is gone: a client that crashed may leave our input open in some
 * other process, and then nothing else would end us.
 */
export function watchParent(onGone: () => void, intervalMs: number): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, intervalMs)
  timer.unref()
}
