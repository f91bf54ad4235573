import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type CausewayError,
  findStateFolder,
  getMachine,
  isCausewayError,
  nodeHttp,
} from '@causeway/protocol'
import { BridgeError, createSettingError } from '../errors.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { variables } from '../settings/options.ts'
import type { Settings } from '../settings/settings.ts'
import { makePrivateFolder } from '../stages/private-files.ts'
import { findProcess, StartLock } from './start-lock.ts'

interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly shell: boolean
}

/** The first start in a checkout also installs dependencies and builds the server. */
const startTimeoutMs = 180_000
const pollMs = 100
/** A starting server may accept connections before it responds. */
const healthTimeoutMs = 1000
const maxLogLines = 12

const localHosts = new Set(['localhost', '127.0.0.1'])

/** Starts the server if it is not running. A lock ensures that concurrent bridges start only one. */
export class Autostart {
  readonly logFile: string
  readonly #port: string
  readonly #command: Command
  readonly #folder = findStateFolder(getMachine())
  readonly #lockFile: string
  readonly #failureFile: string
  readonly #log: Log
  #attempt: Promise<void> | undefined

  /**
   * Unless `serverCommand` is set, finds the server next to `program`, the main module. Throws `INVALID_SETTING` for a remote
   * URL, or if no server is found.
   */
  constructor({ url, serverCommand }: Settings, program: URL, log: Log) {
    if (url.protocol !== 'http:' || !localHosts.has(url.hostname))
      throw createSettingError(
        `no server can be started at ${url}`,
        'omit --autostart, or use a URL of this machine: http://localhost:3100/mcp',
      )
    const command =
      serverCommand === undefined
        ? findServer(program, process.execPath)
        : { file: serverCommand, args: [], shell: true }
    if (command === undefined)
      throw createSettingError(
        'no server is installed with this bridge',
        'set the command that starts it with --server-command, or omit --autostart',
      )
    this.#port = url.port || '80'
    this.#command = command
    this.#log = log
    const getPath = (extension: string): string => join(this.#folder, `server-${this.#port}.${extension}`)
    this.logFile = getPath('log')
    this.#lockFile = getPath('lock')
    this.#failureFile = getPath('failed')
  }

  /** Starts the server and waits until it is healthy. Concurrent calls share an attempt. Throws `SERVER_START_FAILED`. */
  start(): Promise<void> {
    this.#attempt ??= this.#startOnce()
      .catch((error: unknown) => {
        if (isCausewayError(error)) throw error
        throw this.#createError(`cannot start the server: ${(error as Error).message}`, error)
      })
      .finally(() => {
        this.#attempt = undefined
      })
    return this.#attempt
  }

  async #startOnce(): Promise<void> {
    makePrivateFolder(this.#folder)
    const bridgeProcess = findProcess(process.pid)
    const startedAt = Date.now()
    while (!(await this.#isHealthy())) {
      const lock = bridgeProcess && StartLock.take(this.#lockFile, bridgeProcess)
      if (lock === undefined) {
        if (Date.now() > startedAt + startTimeoutMs)
          throw this.#createError('another bridge tries to start the server without success')
        await wait(pollMs)
      } else await this.#startWithLock(lock, startedAt)
    }
  }

  async #startWithLock(lock: StartLock, startedAt: number): Promise<void> {
    try {
      // Another bridge may have started the server, or failed to, before this one took the lock.
      const failure = readFailure(this.#failureFile, startedAt)
      if (failure !== undefined) throw this.#createError(failure)
      if (!(await this.#isHealthy())) await this.#spawnServer(lock, startedAt + startTimeoutMs)
    } catch (error) {
      const message = (error as Error).message.split(':')[0]
      writeFileSync(this.#failureFile, JSON.stringify({ at: Date.now(), message }), { mode: 0o600 })
      throw error
    } finally {
      lock.release()
    }
  }

  async #spawnServer(lock: StartLock, deadline: number): Promise<void> {
    const { file, args, shell } = this.#command
    const env = createServerEnvironment(process.env, this.#port, process.cwd())
    const output = openSync(this.logFile, 'w', 0o600)
    const { spawn } = await import('node:child_process')
    const child = spawn(file, args, { env, shell, detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    let failure: string | undefined
    child.once('error', (error) => {
      failure = `cannot start the server: ${error.message}`
    })
    child.once('exit', (code, signal) => {
      failure = `the server exited with ${signal ?? code} during its start`
    })
    child.unref()
    const server = child.pid === undefined ? undefined : findProcess(child.pid)
    if (server !== undefined) lock.setServer(server)
    this.#log(`started the server, pid ${child.pid}: ${[file, ...args].join(' ')}`)
    while (!(await this.#isHealthy())) {
      if (failure !== undefined) throw this.#createError(failure)
      if (Date.now() > deadline)
        throw this.#createError(`the server was not ready within ${startTimeoutMs / 1000} s`)
      await wait(pollMs)
    }
  }

  #isHealthy(): Promise<boolean> {
    return new Promise((resolve) => {
      const options = { agent: false, timeout: healthTimeoutMs }
      const request = nodeHttp().get(`http://127.0.0.1:${this.#port}/health`, options, (response) => {
        response.resume()
        // A server that requires a token responds with 401.
        resolve(response.statusCode === 200 || response.statusCode === 401)
      })
      request.once('timeout', () => request.destroy())
      request.once('error', (error) => {
        this.#log(`not healthy: ${error.message}`)
        resolve(false)
      })
    })
  }

  #createError(message: string, cause?: unknown): CausewayError {
    const { file, args } = this.#command
    const lines = readLastLines(this.logFile)
    return new BridgeError('SERVER_START_FAILED', `${message}${lines === '' ? '' : `: ${lines}`}`, {
      data: { log: this.logFile, command: [file, ...args].join(' ') },
      remedy: `see ${this.logFile}`,
      cause,
    })
  }
}

function readFailure(path: string, sinceMs: number): string | undefined {
  try {
    const { at, message } = JSON.parse(readFileSync(path, 'utf8')) as { at: number; message: string }
    return at >= sinceMs ? message : undefined
  } catch {
    return undefined
  }
}

function readLastLines(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim().split(/\r?\n/).slice(-maxLogLines).join(' | ').slice(-2000)
  } catch {
    return ''
  }
}

export function findServer(program: URL, node: string): Command | undefined {
  const task = fileURLToPath(new URL('../../scripts/run.mjs', program))
  if (existsSync(task)) return { file: node, args: [task, 'start'], shell: false }
  const server = fileURLToPath(new URL('../../server/bin/causeway.js', program))
  // With V8's default size, the young generation uses up to 100 MB more and saves no time.
  return existsSync(server)
    ? { file: node, args: ['--max-semi-space-size=8', server], shell: false }
    : undefined
}

/** Sets the port and omits variables of the bridge and npm. With npm's variables, the server would exit when npx exits. */
export function createServerEnvironment(
  env: NodeJS.ProcessEnv,
  port: string,
  cwd: string,
): NodeJS.ProcessEnv {
  const bridgeVariables = new Set(variables)
  // Bridge and server use the same token file.
  bridgeVariables.delete('CAUSEWAY_TOKEN_FILE')
  const inheritedVariables = Object.entries(env).filter(
    ([name]) => !bridgeVariables.has(name) && !/^npm_/i.test(name),
  )
  return { CAUSEWAY_ROOTS: cwd, ...Object.fromEntries(inheritedVariables), MCP_SERVER_PORT: port }
}
