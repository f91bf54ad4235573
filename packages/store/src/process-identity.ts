import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Returns a value that distinguishes processes with the same pid: the start time and, on Linux, the boot id.
 * Returns '' on Windows, and `undefined` for a missing process or a zombie.
 */
export function identifyProcess(pid: number): string | undefined {
  if (!isRunning(pid)) return undefined
  if (process.platform === 'linux') return identifyOnLinux(pid)
  return process.platform === 'win32' ? '' : readStartTime(pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** proc(5): field 3 is the state, 22 the start time. The name before them can contain spaces and parentheses. */
function identifyOnLinux(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${fields[19] ?? ''}`
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** `ps` of BSD and macOS prints `S+ Sun Nov 22 07:30:00 2026`. State Z is a zombie. */
function readStartTime(pid: number): string | undefined {
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
