/** Stopping in order: on a signal, or when the process that started us lets go. */

/** A terminal sends its signal to the whole group and the starter forwards it: this soon after, it is the same one. */
const sameSignalMs = 250

/** Runs `stop` once when the process is told to end, then ends it; a second, later signal ends it at once. */
export function onStop(stop: (why: string) => Promise<void>): void {
  let firstAt: number | undefined
  const begin = (why: string, code: number): void => {
    const at = performance.now()
    if (firstAt !== undefined) {
      if (at - firstAt > sameSignalMs) process.exit(code)
      return
    }
    firstAt = at
    stop(why).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`causeway: stopping failed: ${String((error as Error)?.stack ?? error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => begin('SIGTERM', 143))
  process.on('SIGINT', () => begin('SIGINT', 130))
  // The starter holds an IPC channel: when it is gone, nobody is left to stop us.
  process.on('disconnect', () => begin('disconnect', 1))
}
