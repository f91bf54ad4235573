import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { Log } from './debug-log.ts'
import { isHealthy } from './health.ts'
import { makePrivateFolder } from './private-folder.ts'
import { type Command, findServer, serverEnvironment, shellCommand } from './server-command.ts'
import type { Settings } from './settings.ts'
import { processOf, type StartLock, takeStartLock } from './start-lock.ts'

/** Sees to it that a server runs. */
export interface Autostart {
  /** Resolves when the server is healthy; throws SERVER_START_FAILED. Many callers share one attempt. */
  start(): Promise<void>
  /** What the server that was started writes into. */
  readonly logFile: string
}

interface Parts {
  readonly port: string
  readonly command: Command
  readonly env: NodeJS.ProcessEnv
  /** The private folder for lock and log; made where it is missing. */
  readonly dir: string
  readonly isHealthy: () => Promise<boolean>
  readonly log: Log
}

/** A checkout installs and builds before its first start. */
const startMs = 180_000
const pollMs = 100
const shownLines = 12

/** Where lock and log of the servers of this user are. */
export function stateDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'causeway')
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'causeway')
}

/** Where a server that is started listens. */
const startable = new Set(['localhost', '127.0.0.1'])

/** The start of the server that the settings mean, by whatever program is found for it; throws `INVALID_SETTING`. */
export function openAutostart({ url, serverCommand }: Settings, log: Log): Autostart {
  const { env, execPath } = process
  if (url.protocol !== 'http:' || !startable.has(url.hostname))
    throw new CausewayError('INVALID_SETTING', `no server can be started at ${url}`, {
      remedy: 'leave out --autostart, or give the URL of this machine: http://localhost:3100/mcp',
    })
  const command =
    serverCommand === undefined ? findServer(new URL(import.meta.url), execPath) : shellCommand(serverCommand)
  if (command === undefined)
    throw new CausewayError('INVALID_SETTING', 'there is no server beside this bridge to start', {
      remedy: 'say how to start it with --server-command, or leave out --autostart',
    })
  const port = url.port || '80'
  return createAutostart({
    port,
    command,
    env: serverEnvironment(env, port, process.cwd()),
    dir: stateDir(env),
    isHealthy: () => isHealthy(`http://127.0.0.1:${port}`, log),
    log,
  })
}

/** Among many bridges that need the same server at the same time, the one that takes the lock starts it. */
function createAutostart({ port, command, env, dir, isHealthy, log }: Parts): Autostart {
  const file = (name: string): string => join(dir, `server-${port}.${name}`)
  const logFile = file('log')
  let attempt: Promise<void> | undefined

  const failed = (what: string, cause?: unknown): CausewayError => {
    const lines = lastLines(logFile)
    return new CausewayError('SERVER_START_FAILED', `${what}${lines === '' ? '' : `: ${lines}`}`, {
      data: { log: logFile, command: [command.file, ...command.args].join(' ') },
      remedy: `see ${logFile}`,
      cause,
    })
  }

  /** Starts the server and waits until it is healthy; its process outlives this one. */
  const startServer = async (lock: StartLock, deadline: number): Promise<void> => {
    const output = openSync(logFile, 'w', 0o600)
    const { file: program, args, shell } = command
    // Loaded by the one bridge that starts a server; every other starts faster without it.
    const { spawn } = await import('node:child_process')
    const child = spawn(program, args, { env, shell, detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    let end: string | undefined
    child.once('error', (error) => {
      end = `the server cannot be started: ${error.message}`
    })
    child.once('exit', (code, signal) => {
      end = `the server ended with ${signal ?? code} at its start`
    })
    child.unref()
    const server = child.pid === undefined ? undefined : processOf(child.pid)
    if (server !== undefined) lock.note(server)
    log(`started the server, pid ${child.pid}: ${[program, ...args].join(' ')}`)
    while (!(await isHealthy())) {
      if (end !== undefined) throw failed(end)
      if (Date.now() > deadline) throw failed(`the server was not ready within ${startMs / 1000} s`)
      await wait(pollMs)
    }
  }

  const startOnce = async (): Promise<void> => {
    makePrivateFolder(dir)
    const self = processOf(process.pid)
    const since = Date.now()
    while (!(await isHealthy())) {
      const lock = self && takeStartLock(file('lock'), self)
      if (lock === undefined) {
        if (Date.now() > since + startMs) throw failed('another bridge starts the server without success')
        await wait(pollMs)
        continue
      }
      try {
        // Whoever held the lock before may have come to an end, good or bad.
        const told = failureSince(file('failed'), since)
        if (told !== undefined) throw failed(told)
        if (!(await isHealthy())) await startServer(lock, since + startMs)
      } catch (error) {
        const { message } = error as Error
        writeFileSync(file('failed'), JSON.stringify({ at: Date.now(), message: message.split(':')[0] }), {
          mode: 0o600,
        })
        throw error
      } finally {
        lock.release()
      }
    }
  }

  return {
    logFile,
    start() {
      attempt ??= startOnce()
        .catch((error: unknown) => {
          throw (error as { name?: unknown }).name === 'CausewayError'
            ? error
            : failed(`the server cannot be started: ${(error as Error).message}`, error)
        })
        .finally(() => {
          attempt = undefined
        })
      return attempt
    },
  }
}

/** What went wrong for a bridge that tried while this one waited. */
function failureSince(file: string, since: number): string | undefined {
  try {
    const { at, message } = JSON.parse(readFileSync(file, 'utf8')) as { at: number; message: string }
    return at >= since ? message : undefined
  } catch {
    // Nobody failed yet.
    return undefined
  }
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim().split(/\r?\n/).slice(-shownLines).join(' | ').slice(-2000)
  } catch {
    return ''
  }
}
