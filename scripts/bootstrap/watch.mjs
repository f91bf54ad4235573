import { readFileSync } from 'node:fs'
import { processIsAlive } from './lock.mjs'

/**
 * Calls `gone` when the npm that started this process dies. npm passes its signals only to the shell between, and the
 * shell passes none on: without this watch a killed `npm start` leaves its server running. Does nothing unless npm
 * started us. Returns the function that ends the watch.
 *
 * @type {(gone: () => void, host?: { env?: NodeJS.ProcessEnv, parent?: () => number, everyMs?: number,
 *   stat?: (pid: number) => string, isAlive?: (pid: number) => boolean }) => () => void}
 */
export function watchNpm(gone, host = {}) {
  const { env = process.env, parent = () => process.ppid, everyMs = 250 } = host
  const { stat = processStat, isAlive = processIsAlive } = host
  if (env.npm_lifecycle_event === undefined) return () => {}
  const first = parent()
  const npm = npmAbove(first, stat)
  const timer = setInterval(() => {
    if (parent() === first && isAlive(npm)) return
    clearInterval(timer)
    gone()
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** npm's process: the parent, or its parent when the parent is the shell that npm runs scripts with. */
function npmAbove(pid, stat) {
  const [, name = '', above = ''] = /^\d+ \((.*)\) \S (\d+) /s.exec(stat(pid)) ?? []
  return /^(sh|bash|dash|ash|zsh|ksh)$/.test(name) ? Number(above) : pid
}

/** `/proc/<pid>/stat`, or nothing on systems without it, where only the change of parent is seen. */
function processStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}
