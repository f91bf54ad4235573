/** Runs servers as child processes on free ports and reads their logs, addresses and exit codes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { Sightings } from '../../bridge/test/sightings.ts'

/** The folder of the committed recordings. */
export const recordings = fileURLToPath(new URL('../../fixtures/recordings', import.meta.url))

/** The arguments of Node that run the server from its sources. */
export const fromSource = [
  '--conditions=@causeway/source',
  fileURLToPath(new URL('../../server/src/main.ts', import.meta.url)),
]

/** The arguments of Node that run the compiled server. Needs `buildProduct`. */
export const fromBuild = [fileURLToPath(new URL('../../server/bin/causeway.js', import.meta.url))]

/** Compiles the server and bundles the bridge unless they are current. */
export function buildProduct(): void {
  const bootstrap = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
  execFileSync(process.execPath, [bootstrap, 'build'], { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Options for starting a server. */
export interface ServerStart {
  /** The data folder. */
  readonly dir: string
  /** Settings by environment variable; by default, the recording roots contain the committed recordings. */
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Arguments of Node; default: `fromSource`. */
  readonly program?: readonly string[]
  /** An executable that starts Node with `program` as its first arguments; default: Node itself. */
  readonly command?: string
  /** Working directory, which is also the default root; default: the data folder. */
  readonly cwd?: string
}

/** A line of the log, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: the fields depend on the message
export type LogLine = Readonly<Record<string, any>>

/** Exit code and signal of a process. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server process. `ready` resolves when it listens. */
export class ServerProcess {
  readonly start: ServerStart
  readonly process: ChildProcess
  /** Log lines. A line that is not JSON is stored as `{ text }`. Waits long, because faulty disks are slow. */
  readonly log = new Sightings<LogLine>(120_000)
  readonly exited: Promise<Ending>
  stdout = ''
  stderr = ''

  constructor(start: ServerStart, process: ChildProcess) {
    this.start = start
    this.process = process
    // Node does not emit `close` for a child after the parent closes the IPC channel.
    const outputs = [process.stdout, process.stderr].map((output) => output && once(output, 'close'))
    this.exited = Promise.all([once(process, 'exit'), ...outputs]).then(([[code, signal]]) => ({
      code,
      signal,
    }))
    process.stdout?.on('data', (chunk) => {
      this.stdout += chunk
    })
    process.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
    if (process.stderr !== null)
      createInterface({ input: process.stderr }).on('line', (line) => this.log.push(parseLine(line)))
  }

  /** Resolves to the origin when the server listens. Rejects with the server's stderr if it exits first. */
  async ready(): Promise<string> {
    const line = await Promise.race([
      this.saw('Causeway is ready'),
      this.exited.then(({ code }) => {
        throw new Error(`the server exited with ${code}: ${this.stderr}`)
      }),
    ])
    return new URL(line.url).origin
  }

  /** Returns the first log line with this message. */
  saw(message: string): Promise<LogLine> {
    return this.log.first(`the log line "${message}"`, ({ msg }) => msg === message)
  }

  /** Sends SIGTERM and waits until the process has exited. */
  async stop(): Promise<Ending> {
    this.process.kill('SIGTERM')
    return this.exited
  }
}

/** A listening server. `url` has no path. */
export interface RunningServer {
  readonly url: string
  readonly server: ServerProcess
}

/** Starts a server that is stopped at the end of the test. */
export function spawnServer(t: Test, start: ServerStart): ServerProcess {
  const child = spawn(
    start.command ?? process.execPath,
    [...(start.program ?? fromSource), ...(start.args ?? [])],
    {
      cwd: start.cwd ?? start.dir,
      env: {
        ...cleanEnv(),
        CAUSEWAY_DATA_DIR: start.dir,
        CAUSEWAY_RECORDING_ROOTS: recordings,
        MCP_SERVER_PORT: '0',
        // Indexing documentation in every server would slow down the tests that run in parallel.
        CAUSEWAY_HELP_BUILD: 'false',
        ...start.env,
      },
      // The channel closes with this process, so a killed test leaves no running server.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  child.channel?.unref()
  const server = new ServerProcess(start, child)
  t.teardown(async () => {
    const killTimer = setTimeout(() => child.kill('SIGKILL'), 8000)
    await server.stop()
    clearTimeout(killTimer)
  })
  return server
}

/** Starts a server and waits until it listens. */
export async function startServer(t: Test, start: ServerStart): Promise<RunningServer> {
  const server = spawnServer(t, start)
  return { server, url: await server.ready() }
}

/** Stops a server and starts another with the same data folder and port. */
export async function restartServer(t: Test, { server, url }: RunningServer): Promise<RunningServer> {
  await server.stop()
  const env = { ...server.start.env, MCP_SERVER_PORT: new URL(url).port }
  return startServer(t, { ...server.start, env })
}

/** Returns the environment of this process without Causeway settings and without the variables of npm. */
export function cleanEnv(): NodeJS.ProcessEnv {
  const ours = /^(CAUSEWAY_|MCP_|MINDS_|npm_)|^(EXTRA_LOGGING|DEBUG|OPENROUTER_API_KEY)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line)
  } catch {
    return { text: line }
  }
}
