/** A private PostgreSQL server in a temporary folder, reachable through a Unix socket only. */
import { execFileSync, type SpawnOptions } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Debian installs PostgreSQL. */
const versions = '/usr/lib/postgresql'

export interface Cluster {
  /** URL of a database of the superuser. */
  readonly url: string
  /** Returns the processor time of the connected server processes, in ms. Linux only. */
  processorMs(): number
  stop(): void
}

/** Returns the folder of the newest installed programs, or `undefined`. */
function findPrograms(): string | undefined {
  if (!existsSync(versions)) return undefined
  const [newest] = readdirSync(versions).sort((a, b) => Number(b) - Number(a))
  const folder = join(versions, newest ?? '', 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** PostgreSQL refuses to run as root: returns the user that Debian's package creates. */
function findUser(): Pick<SpawnOptions, 'uid' | 'gid'> {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Returns the processor time of the children of a process, in ms (proc(5): fields 4, 14 and 15 of `stat`, in 1/100 s). */
function readProcessorMs(parent: number): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const times = processes.map((name) => {
    const file = `/proc/${name}/stat`
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    // The name of the program is in parentheses and can contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return Number(fields[1]) === parent ? (Number(fields[11]) + Number(fields[12])) * 10 : 0
  })
  return times.reduce((sum, ms) => sum + ms, 0)
}

/** Starts a server, or returns `undefined` if PostgreSQL is not installed. */
export function startCluster(): Cluster | undefined {
  const programs = findPrograms()
  if (programs === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'causeway-postgres-'))
  chmodSync(folder, 0o777)
  const user = findUser()
  const run = (name: string, args: readonly string[]): void => {
    execFileSync(join(programs, name), args, { ...user, cwd: folder, stdio: 'ignore' })
  }
  const data = join(folder, 'data')
  run('initdb', ['-D', data, '-U', 'causeway', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'])
  const options = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`
  run('pg_ctl', ['-D', data, '-w', '-o', options, '-l', join(folder, 'log'), 'start'])
  return {
    url: `postgres://causeway@localhost/postgres?host=${encodeURIComponent(folder)}`,
    processorMs: () =>
      readProcessorMs(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])),
    stop() {
      run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
