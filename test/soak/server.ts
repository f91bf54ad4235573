/** The server of a soak: killed and started again on the same port and data, as chance wants it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../server/bin/causeway.js', import.meta.url))

/** One server after the other, at one address. */
export class SoakServer {
  readonly port: number
  readonly #dir: string
  #process: ChildProcess | undefined
  #lastWords = ''
  starts = 0

  constructor(port: number, dir: string) {
    this.port = port
    this.#dir = dir
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`
  }

  /** Starts and waits until it is healthy. */
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
      this.#lastWords = (this.#lastWords + chunk.toString('utf8')).slice(-2000)
    })
    while (!(await this.#isHealthy())) {
      if (child.exitCode !== null)
        throw new Error(`the server ended with ${child.exitCode}: ${this.#lastWords}`)
      await wait(50)
    }
  }

  /** Ends it in one of the two ways in which servers end. */
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
      // It does not listen yet.
      return false
    }
  }
}

/** A port that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
