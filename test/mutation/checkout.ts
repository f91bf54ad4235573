import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { files } from '../tree.ts'

export interface TestRun {
  readonly passed: boolean
  readonly timedOut: boolean
  readonly ms: number
  /** The end of the output. */
  readonly output: string
}

const maxOutputLength = 4000
const killGraceMs = 2000

/** A temporary copy of the working tree in which sources can be changed and tests run. */
export class Checkout {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'causeway-mutants-')))
  readonly #root: string
  #stop: (() => void) | undefined

  constructor(root: string) {
    this.#root = root
    for (const file of files(root)) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true })
      copyFileSync(join(root, file), join(this.folder, file))
    }
    this.#linkModules()
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text)
  }

  restore(file: string): void {
    copyFileSync(join(this.#root, file), join(this.folder, file))
  }

  /** Runs a test file until it ends or the timeout has passed, then ends every process that it left behind. */
  test(file: string, timeoutMs: number): Promise<TestRun> {
    return this.run(['--conditions=@causeway/source', '--import=./test/teardown-first.mjs', file], timeoutMs)
  }

  /** Runs Node in the copy. */
  async run(args: readonly string[], timeoutMs: number): Promise<TestRun> {
    const started = performance.now()
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-maxOutputLength)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    const exit = once(child, 'exit')
    const abort = new AbortController()
    this.#stop = () => child.kill('SIGKILL')
    const timeout = setTimeout(timeoutMs, 'timeout' as const, { signal: abort.signal }).catch(() => undefined)
    const timedOut = (await Promise.race([exit, timeout])) === 'timeout'
    abort.abort()
    if (timedOut) child.kill('SIGKILL')
    const [code] = await exit
    child.stdout.destroy()
    child.stderr.destroy()
    await this.#endProcesses()
    rmSync(join(this.folder, '.tap/fixtures'), { recursive: true, force: true, maxRetries: 5 })
    return { passed: code === 0, timedOut, ms: performance.now() - started, output }
  }

  /** Ends the running test and removes the copy. */
  remove(): void {
    this.#stop?.()
    for (const pid of this.#processes()) end(pid, 'SIGKILL')
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Packages of the workspace resolve to the copy, all others to the original. */
  #linkModules(): void {
    const modules = join(this.#root, 'node_modules')
    mkdirSync(join(this.folder, 'node_modules/@causeway'), { recursive: true })
    for (const name of readdirSync(modules)) {
      if (name !== '@causeway') symlinkSync(join(modules, name), join(this.folder, 'node_modules', name))
    }
    for (const name of readdirSync(join(modules, '@causeway'))) {
      const target = readlinkSync(join(modules, '@causeway', name))
      symlinkSync(target, join(this.folder, 'node_modules/@causeway', name))
    }
  }

  #environment(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CAUSEWAY_'))
    return {
      ...Object.fromEntries(own),
      TAP_TIMEOUT: '300',
      CAUSEWAY_ALL_TESTS: 'true',
      NODE_COMPILE_CACHE: join(this.folder, '.bootstrap/compile-cache'),
    }
  }

  /** Servers and bridges that a failed test did not stop. */
  async #endProcesses(): Promise<void> {
    const left = this.#processes()
    for (const pid of left) end(pid, 'SIGTERM')
    const deadline = performance.now() + killGraceMs
    while (this.#processes().length > 0 && performance.now() < deadline) await setTimeout(50)
    for (const pid of this.#processes()) end(pid, 'SIGKILL')
  }

  /** Processes whose command line names the copy. Found on Linux only. */
  #processes(): number[] {
    if (!existsSync('/proc/self/cmdline')) return []
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
    return pids.filter((pid) => {
      try {
        const names = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.folder)
        return names || readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder)
      } catch {
        return false
      }
    })
  }
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
