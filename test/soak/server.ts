/** The server of a soak, which is stopped or killed at random times and restarted with the same port and data. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../server/bin/causeway.js', import.meta.url))

/** A restartable server with a fixed URL. */
export class SoakServer {
  readonly port: number
  readonly #dir: string
  #process: ChildProcess | undefined
  #stderrTail = ''
  starts = 0

  constructor(port: number, dir: string) {
    this.port = port
    this.#dir = dir
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`
  }

  /** Starts the server and waits until it is healthy. */
  async start(): Promise<void> {
    this.starts += 1
    const child = spawn(process.execPath, [program], {
      cwd: this.#dir,
      env: {
        ...process.env,
        CAUSEWAY_DATA_DIR: this.#dir,
        MCP_SERVER_PORT: String(this.port),
        CAUSEWAY_RATE_LIMITS: 'off',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + chunk.toString('utf8')).slice(-2000)
    })
    while (!(await this.#isHealthy())) {
      if (child.exitCode !== null)
        throw new Error(`the server exited with ${child.exitCode}: ${this.#stderrTail}`)
      await wait(50)
    }
  }

  /** Stops or kills the server and waits until it has exited. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  async #isHealthy(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/health`)).ok
    } catch {
      // The server does not listen yet.
      return false
    }
  }
}
