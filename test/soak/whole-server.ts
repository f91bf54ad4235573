/** A server with every app in a soak. It can be restarted on fixed ports and measured. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { findFreePorts } from '../free-port.ts'
import { appPaths, createDataFolders } from '../fuzz/data-folders.ts'

const program = fileURLToPath(new URL('../../server/bin/causeway.js', import.meta.url))
const collect = new URL('./collect.mjs', import.meta.url).href

/** Resource use of a server after garbage collection. */
export interface ResourceUse {
  /** Heap size without the cached pictures of recordings, which have their own limit. */
  readonly heapMb: number
  readonly residentMb: number
  readonly descriptors: number
  /** Active handles and requests of Node. */
  readonly resources: number
  readonly threads: number
}

/** A restartable server with fixed URLs and data. */
export class WholeServer {
  readonly url: string
  readonly own: ReadonlyMap<string, string>
  readonly dataDir: string
  /** The folder with all files of the server. */
  readonly base: string
  readonly #env: NodeJS.ProcessEnv
  #process: ChildProcess | undefined
  #stderrTail = ''
  starts = 0

  private constructor(base: string, ports: readonly number[], env: NodeJS.ProcessEnv) {
    const { data, roots, settings } = createDataFolders(base)
    const [port = 0, ...others] = ports
    this.base = base
    this.dataDir = data
    this.url = `http://127.0.0.1:${port}`
    this.own = new Map(appPaths.map((app, at) => [app, `http://127.0.0.1:${others[at]}`]))
    this.#env = {
      ...process.env,
      ...settings,
      CAUSEWAY_DATA_DIR: data,
      CAUSEWAY_ROOTS: roots,
      CAUSEWAY_LISTEN: appPaths.map((app, at) => `${app}:${others[at]}`).join(','),
      CAUSEWAY_RATE_LIMITS: 'off',
      MCP_SERVER_PORT: String(port),
      ...env,
    }
  }

  /** Finds ports and creates the data folders. Does not start the server. */
  static async create(env: NodeJS.ProcessEnv = {}): Promise<WholeServer> {
    const ports = await findFreePorts(appPaths.length + 1)
    return new WholeServer(mkdtempSync(join(tmpdir(), 'causeway-whole-')), ports, env)
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  get stderrTail(): string {
    return this.#stderrTail
  }

  /** Starts the server and waits until every app is healthy. */
  async start(): Promise<void> {
    this.starts += 1
    const child = spawn(process.execPath, ['--expose-gc', '--import', collect, program], {
      cwd: this.base,
      env: this.#env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + chunk.toString('utf8')).slice(-4000)
    })
    while (!(await this.isHealthy())) {
      if (child.exitCode !== null)
        throw new Error(`the server exited with ${child.exitCode}: ${this.#stderrTail}`)
      await wait(50)
    }
  }

  /** Stops or kills the server. Returns its exit code, or `null` for a signal. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null
    const exited = once(child, 'exit')
    child.kill(signal)
    const [code] = await exited
    return code
  }

  /** Stops and starts the server. Returns the exit code of the stopped process. */
  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const code = await this.end(signal)
    await this.start()
    return code
  }

  /** Whether the server responds and every app is healthy. */
  async isHealthy(): Promise<boolean> {
    try {
      const { status } = JSON.parse(await this.#get('/health')) as { status: string }
      return status === 'ok'
    } catch {
      // The server does not listen, or is stopping.
      return false
    }
  }

  /** Returns the current resource use. Requires Linux. */
  async measure(): Promise<ResourceUse> {
    // Twice, because finalizers of the first collection release further objects.
    for (let times = 0; times < 2; times += 1) {
      this.#process?.kill('SIGUSR2')
      await wait(300)
    }
    const text = await this.#get('/metrics')
    const metric = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    const { memory } = JSON.parse(await this.#get('/health')) as {
      readonly memory: { readonly caches: Readonly<Record<string, { readonly bytes: number }>> }
    }
    const pictures = memory.caches['replay.pictures']?.bytes ?? Number.NaN
    return {
      heapMb: round((metric('causeway_nodejs_heap_size_used_bytes') - pictures) / 2 ** 20),
      residentMb: round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024),
      descriptors: readdirSync(`/proc/${this.pid}/fd`).length,
      resources: metric('causeway_nodejs_active_resources_total'),
      threads: Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1]),
    }
  }

  /** Closes the connection after the response, so that it is not part of the measurement. */
  async #get(path: string): Promise<string> {
    const { body } = await request(`${this.url}${path}`, { reset: true })
    return body.text()
  }

  /** Stops the server and removes its data. */
  async remove(): Promise<void> {
    await this.end('SIGTERM')
    rmSync(this.base, { recursive: true, force: true })
  }
}

const round = (number: number): number => Math.round(number * 10) / 10
