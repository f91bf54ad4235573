/** A real server process on a port of its own, seen from outside: its log, its address, how it ends. */
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

/** How a test starts a server. */
export interface ServerStart {
  /** The data folder. */
  readonly dir: string
  /** Settings by environment variable; recordings of the repository are readable unless they say otherwise. */
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** What Node runs; default: the sources. */
  readonly program?: readonly string[]
  /** A program that starts Node, which then begins `program`; default: Node itself. */
  readonly command?: string
  /** The folder it is started in, and so the default root; default: the data folder. */
  readonly cwd?: string
}

/** A line of the log, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: a line carries whatever the place that wrote it said
export type LogLine = Readonly<Record<string, any>>

/** How a process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server that has been started; `ready` tells when it listens. */
export class ServerProcess {
  readonly start: ServerStart
  readonly process: ChildProcess
  /** Lines of the log; what is no JSON stands under `text`. */
  readonly log = new Sightings<LogLine>()
  readonly exited: Promise<Ending>
  stdout = ''
  stderr = ''

  constructor(start: ServerStart, process: ChildProcess) {
    this.start = start
    this.process = process
    // Not `close`: Node does not tell it of a child whose IPC channel its parent has closed.
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
      createInterface({ input: process.stderr }).on('line', (line) => this.log.push(parsed(line)))
  }

  /** Waits for the line that says it listens; fails with what it wrote if it ended instead. */
  async ready(): Promise<string> {
    const line = await Promise.race([
      this.saw('Causeway is ready'),
      this.exited.then(({ code }) => {
        throw new Error(`the server ended with ${code}: ${this.stderr}`)
      }),
    ])
    return new URL(line.url).origin
  }

  /** The first line of the log with this message. */
  saw(message: string): Promise<LogLine> {
    return this.log.first(`the log line "${message}"`, ({ msg }) => msg === message)
  }

  /** Tells it to stop and waits for its end. */
  async stop(): Promise<Ending> {
    this.process.kill('SIGTERM')
    return this.exited
  }
}

/** A server that listens at `url`, without the path. */
export interface RunningServer {
  readonly url: string
  readonly server: ServerProcess
}

/** Starts the program with these arguments; the test ends it. */
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
        // Indexing documentation behind every server would take its processor from the tests beside it.
        CAUSEWAY_HELP_BUILD: 'false',
        ...start.env,
      },
      // The channel ends with this process: a test that is killed leaves no server behind.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  child.channel?.unref()
  const server = new ServerProcess(start, child)
  t.teardown(async () => {
    const hangs = setTimeout(() => child.kill('SIGKILL'), 8000)
    await server.stop()
    clearTimeout(hangs)
  })
  return server
}

/** Starts a server and waits until it listens. */
export async function startServer(t: Test, start: ServerStart): Promise<RunningServer> {
  const server = spawnServer(t, start)
  return { server, url: await server.ready() }
}

/** Stops a server and starts another on the same data and port. */
export async function restartServer(t: Test, { server, url }: RunningServer): Promise<RunningServer> {
  await server.stop()
  const env = { ...server.start.env, MCP_SERVER_PORT: new URL(url).port }
  return startServer(t, { ...server.start, env })
}

/** The environment of this process without settings that a developer may have. */
export function cleanEnv(): NodeJS.ProcessEnv {
  const ours = /^(CAUSEWAY_|MCP_|MINDS_)|^(EXTRA_LOGGING|DEBUG|OPENROUTER_API_KEY)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}

function parsed(line: string): LogLine {
  try {
    return JSON.parse(line)
  } catch {
    return { text: line }
  }
}
