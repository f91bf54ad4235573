import { readFileSync } from 'node:fs'
import { listStopSignals } from '@causeway/protocol'
import { identifyProcess } from '@causeway/store'

/** Ignores repetitions within this time: a terminal signals the process group, and npm forwards the signal. */
const repeatedSignalMs = 250
const npxCheckMs = 250

/** Runs `stop` on the first signal or when the IPC channel closes. A second signal exits immediately. */
export function onShutdown(stop: (reason: string) => Promise<void>): void {
  let firstSignalAt: number | undefined
  const begin = (reason: string, exitCode: number): void => {
    const now = performance.now()
    if (firstSignalAt !== undefined) {
      if (now - firstSignalAt > repeatedSignalMs) process.exit(exitCode)
      return
    }
    firstSignalAt = now
    stop(reason).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`causeway: stopping failed: ${String((error as Error)?.stack ?? error)}\n`)
        process.exit(1)
      },
    )
  }
  for (const signal of listStopSignals())
    process.on(signal, (_name: string, number: number) => begin(signal, 128 + number))
  process.on('disconnect', () => begin('disconnect', 1))
}

/** Calls `onExit` when npx exits: npm signals only the shell in between, which does not forward signals. */
export function watchNpx(onExit: () => void, env: NodeJS.ProcessEnv = process.env): void {
  const pid = findNpx(env)
  const identity = pid === undefined ? undefined : identifyProcess(pid)
  if (pid === undefined || identity === undefined) return
  const timer = setInterval(() => {
    if (identifyProcess(pid) === identity) return
    clearInterval(timer)
    onExit()
  }, npxCheckMs).unref()
}

/** Returns the grandparent if it is npx. The environment does not suffice: all descendants inherit it. */
function findNpx({ npm_command: command }: NodeJS.ProcessEnv): number | undefined {
  if (command !== 'exec') return undefined
  const stat = readProc(process.ppid, 'stat')
  const [, name = '', grandparentPid = ''] = /^\d+ \((.*)\) \S (\d+) /s.exec(stat) ?? []
  const isShell = /^(sh|bash|dash|ash|zsh|ksh)$/.test(name)
  return isShell && /^npm exec/.test(readProc(Number(grandparentPid), 'cmdline'))
    ? Number(grandparentPid)
    : undefined
}

/** Reads a file of proc(5). Returns '' on other systems. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
