/**
 * The npx that started this process. npm passes a signal only to the shell between, and that shell passes none on: without
 * a look at it, a stopped npx leaves its server running.
 */

import { readFileSync } from 'node:fs'
import { processIdentity } from '@causeway/store'

/** How often it is looked at, ms. */
const lookEveryMs = 250

/** Calls `gone` once when the npx that started this process has ended; does nothing where none did. */
export function watchNpx(gone: () => void, env: NodeJS.ProcessEnv = process.env): void {
  const pid = npxAbove(env)
  const identity = pid === undefined ? undefined : processIdentity(pid)
  if (pid === undefined || identity === undefined) return
  const timer = setInterval(() => {
    if (processIdentity(pid) === identity) return
    clearInterval(timer)
    gone()
  }, lookEveryMs).unref()
}

/** The parent of the shell that is the parent, if it says to be `npm exec`: the environment alone is inherited by all below. */
function npxAbove({ npm_command: command }: NodeJS.ProcessEnv): number | undefined {
  if (command !== 'exec') return undefined
  const [, name = '', above = ''] = /^\d+ \((.*)\) \S (\d+) /s.exec(proc(process.ppid, 'stat')) ?? []
  const isShell = /^(sh|bash|dash|ash|zsh|ksh)$/.test(name)
  return isShell && /^npm exec/.test(proc(Number(above), 'cmdline')) ? Number(above) : undefined
}

/** A file of proc(5); nothing on systems without it. */
function proc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
