import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { StoreError } from '@causeway/store'
import { settings } from '../config/config.ts'
import { ServerError } from '../errors.ts'
import type { HealthReport } from '../monitoring/health.ts'
import { findServer } from './server-file.ts'

/** Converts `EADDRINUSE` to `PORT_IN_USE`. Ports other than `serverPort` belong to apps. */
export async function toPortError(error: unknown, serverPort: number): Promise<unknown> {
  const { code, port = serverPort } = error as NodeJS.ErrnoException & { port?: number }
  if (code !== 'EADDRINUSE') return error
  const server = await findOtherServer(port)
  const holder = server?.holder ?? describeListener(port) ?? 'another program'
  const otherPort =
    port === serverPort
      ? 'use another port: --port or MCP_SERVER_PORT'
      : `give the app another port in ${settings.listen.env}`
  const stop = server === undefined ? 'stop it' : `run causeway stop --data-dir ${server.dataDir}`
  return new ServerError('PORT_IN_USE', `port ${port} is used by ${holder}`, {
    data: { port, holder },
    remedy: `${stop}, or ${otherPort}`,
    cause: error,
  })
}

async function findOtherServer(port: number): Promise<{ holder: string; dataDir: string } | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2000) })
    const { pid, version, data_dir: dataDir } = (await response.json()) as Partial<HealthReport>
    if (pid === undefined || dataDir === undefined) return undefined
    return {
      holder: `another Causeway server (version ${version}, pid ${pid}) with other data: ${dataDir}`,
      dataDir,
    }
  } catch {
    return undefined
  }
}

/** Adds the running server's address to `DATA_IN_USE`. Returns other errors unchanged. */
export function toRunningError(error: unknown, dataDir: string): unknown {
  if (!StoreError.is(error, 'DATA_IN_USE')) return error
  const serverState = findServer(dataDir)
  if (serverState.state !== 'running') return error
  const { url, pid } = serverState.server
  return new StoreError('DATA_IN_USE', `Causeway is already running at ${url}`, {
    data: { url, pid, dir: dataDir },
    remedy: `use it, or run causeway stop --data-dir ${dataDir}; to run a second server, choose another --data-dir and --port`,
    cause: error,
  })
}

/** Returns `undefined` for a process of another user, and on systems other than Linux. */
function describeListener(port: number): string | undefined {
  try {
    const inode = findListeningInode(port)
    if (inode === undefined) return undefined
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      if (holdsSocket(pid, inode)) return `${readCommand(pid)} (pid ${pid})`
  } catch {
    // The system has no /proc, or the process has ended.
  }
  return undefined
}

function readCommand(pid: string): string {
  const [program = '', argument = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return `${basename(program)} ${argument}`.trim()
}

/** Columns of `/proc/net/tcp`: 1 local address, 3 state (0A is LISTEN), 9 inode. */
function findListeningInode(port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  const columns = rows.map((row) => row.trim().split(/\s+/))
  return columns.find((row) => row[1]?.endsWith(suffix) && row[3] === '0A')?.[9]
}

function holdsSocket(pid: string, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`,
    )
  } catch {
    return false
  }
}
