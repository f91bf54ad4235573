/** A port that is taken: who has it, and what to do. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { settings } from './config.ts'

/**
 * `EADDRINUSE` as `PORT_IN_USE` that names the holder where it can be found; any other error as it is. `ownPort` is the
 * server's; another one belongs to an app.
 */
export async function portInUse(error: unknown, ownPort: number): Promise<unknown> {
  const { code, port = ownPort } = error as NodeJS.ErrnoException & { port?: number }
  if (code !== 'EADDRINUSE') return error
  const holder = (await causewayAt(port)) ?? processAt(port) ?? 'another program'
  return new CausewayError('PORT_IN_USE', `port ${port} is held by ${holder}`, {
    data: { port, holder },
    ...(port === ownPort
      ? {}
      : { remedy: `stop it, or give the app another port in ${settings.listen.env}` }),
    cause: error,
  })
}

/** A server of ours answers `/health` and says its pid. */
async function causewayAt(port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2000) })
    const { pid, version } = (await answer.json()) as { pid?: unknown; version?: unknown }
    return typeof pid === 'number' ? `a Causeway server (version ${version}, pid ${pid})` : undefined
  } catch {
    // Whatever listens there is not ours: that is an answer too.
    return undefined
  }
}

/** Linux tells which process holds a listening socket; elsewhere, and for other users' processes, nothing is found. */
function processAt(port: number): string | undefined {
  try {
    const inode = listeningInode(port)
    if (inode === undefined) return undefined
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (holdsSocket(pid, inode)) return `${commandOf(pid)} (pid ${pid})`
    }
  } catch {
    // No /proc, or a process that ended while we looked.
  }
  return undefined
}

/** The program and its first argument, `node server.js`: the name of the thread alone says `MainThread`. */
function commandOf(pid: string): string {
  const [program = '', argument = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return `${basename(program)} ${argument}`.trim()
}

/** Columns of /proc/net/tcp: local address, state (0A = listening), inode. */
function listeningInode(port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/)
    if (columns[1]?.endsWith(suffix) && columns[3] === '0A') return columns[9]
  }
  return undefined
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
