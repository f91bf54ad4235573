import { spawn } from 'node:child_process'
import { Exit, exitCode } from './exit.mjs'

/**
 * @typedef {{ env?: NodeJS.ProcessEnv, stdio?: import('node:child_process').StdioOptions }} RunOptions
 * @typedef {(title: string, program: string, args: readonly string[], options?: RunOptions) => Promise<void>} Run
 */

/** Runs one program after the other, passes signals on to the running one, and starts none after a signal. */
export class Supervisor {
  #child = undefined
  #stopped = new AbortController()

  /** @param {{ root: string, say: (line: string) => void }} place  where programs run, and what is told of them */
  constructor({ root, say }) {
    this.root = root
    this.say = say
  }

  /** Aborts with the first signal, for whoever waits for something else than a program. */
  get signal() {
    return this.#stopped.signal
  }

  /**
   * Passes a signal to the running program and starts no further one. The program decides when it ends: a server
   * drains, and `npm ci` leaves a half-made tree when it is killed.
   *
   * @param {NodeJS.Signals} name
   */
  stop(name) {
    this.#child?.kill(name)
    if (!this.signal.aborted) this.#stopped.abort(new Exit(exitCode(null, name)))
  }

  /**
   * Runs a step of the set-up or of the checks: its duration is told, a failure throws, and its output goes to stderr
   * unless `stdio` says else.
   *
   * @type {Run}
   */
  step = async (title, program, args, options = {}) => {
    this.say(title)
    const start = performance.now()
    const code = await this.run(program, args, { stdio: ['ignore', 2, 2], ...options })
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    this.signal.throwIfAborted()
    if (code !== 0) throw new Exit(code, `${title} failed after ${seconds} s`)
    this.say(`  done in ${seconds} s`)
  }

  /**
   * Runs a program with this terminal, in the checkout unless `cwd` says else, and answers its exit code.
   *
   * @type {(program: string, args: readonly string[],
   *   options?: RunOptions & { cwd?: string, started?: (child: import('node:child_process').ChildProcess) => void }) => Promise<number>}
   */
  run(program, args, { env = process.env, cwd = this.root, stdio = 'inherit', started = () => {} } = {}) {
    this.signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, env, stdio })
      this.#child = child
      started(child)
      child.once('error', (cause) => reject(new Exit(1, `${program} cannot be started: ${cause.message}`)))
      child.once('exit', (code, signal) => {
        this.#child = undefined
        resolve(exitCode(code, signal))
      })
    })
  }
}
