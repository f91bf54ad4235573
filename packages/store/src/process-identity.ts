/** A process, told apart from a later one that was given the same number. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * What identifies the process of this number for as long as the machine runs: the time of its start in the system's own
 * words, and on Linux the boot that it belongs to. Undefined where there is no such process or where it has ended and is
 * only still listed; empty where the system does not tell.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isListed(pid)) return undefined
  if (process.platform === 'linux') return linuxIdentity(pid)
  return process.platform === 'win32' ? '' : startTime(pid)
}

function isListed(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** proc(5): the name, in brackets, may hold blanks and brackets; the state is field 3, the time of the start field 22. */
function linuxIdentity(pid: number): string | undefined {
  const stat = textIn(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return `${textIn('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${fields[19] ?? ''}`
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The process ended while its file was opened, or the system has none.
    return undefined
  }
}

/** `ps` of BSD and macOS: `S+ Sun Nov 22 07:30:00 2026`, where Z is the state of one that has ended. */
function startTime(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '')
  } catch {
    return undefined
  }
}
