import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { processIsAlive } from './lock.mjs'

/** A step that ends earlier prints nothing. */
const announceMs = 500
/** Interval of the messages of a long step. */
const remindMs = 5000

/** Ends the command with an exit code. The message, if any, is printed for the user. */
export class Exit extends Error {
  /** @param {number} code  @param {string} [message] */
  constructor(code, message) {
    super(message ?? '')
    this.code = code
  }
}

/**
 * The exit code of a child as a shell reports it: its own, or 128 plus the number of the signal that killed it.
 *
 * @type {(code: number | null, signal: NodeJS.Signals | null) => number}
 */
export function exitCode(code, signal) {
  return signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0)
}

/**
 * @typedef {{ env?: NodeJS.ProcessEnv, cwd?: string, stdio?: import('node:child_process').StdioOptions }} RunOptions
 * @typedef {(title: string, program: string, args: readonly string[], options?: RunOptions) => Promise<void>} Run
 */

/** Runs programs, forwards signals to those that are running, and starts none after a signal. */
export class Supervisor {
  #children = new Set()
  #stopped = new AbortController()

  /** @param {{ root: string, say: (line: string) => void }} options  `root` is the default working directory */
  constructor({ root, say }) {
    this.root = root
    this.say = say
  }

  /** Aborts on the first signal. */
  get signal() {
    return this.#stopped.signal
  }

  /**
   * Forwards a signal to the running programs and prevents further ones. The programs decide when they end: a server
   * drains, and a killed `npm ci` leaves an incomplete tree.
   *
   * @param {NodeJS.Signals} name
   */
  stop(name) {
    for (const child of this.#children) child.kill(name)
    if (!this.signal.aborted) this.#stopped.abort(new Exit(exitCode(null, name)))
  }

  /**
   * Runs a step of the set-up or of the checks. Prints its title unless it ends soon, then repeatedly how long it runs, and its
   * duration at the end. Throws an `Exit` if it fails. Output goes to stderr unless `stdio` is set.
   *
   * @type {Run}
   */
  step = async (title, program, args, options = {}) => {
    const start = performance.now()
    const elapsed = () => ((performance.now() - start) / 1000).toFixed(1)
    let isAnnounced = false
    const announce = setTimeout(() => {
      isAnnounced = true
      this.say(`${title} …`)
    }, announceMs)
    const remind = setInterval(
      () => this.say(`  ${title}: still running after ${Math.round(elapsed())} s`),
      remindMs,
    )
    const end = () => {
      clearTimeout(announce)
      clearInterval(remind)
    }
    const code = await this.run(program, args, { stdio: ['ignore', 2, 2], ...options }).finally(end)
    this.signal.throwIfAborted()
    if (code !== 0) throw new Exit(code, `${title} failed after ${elapsed()} s`)
    if (isAnnounced) this.say(`  ${title}: done in ${elapsed()} s`)
  }

  /**
   * Runs a program in the foreground and returns its exit code.
   *
   * @type {(program: string, args: readonly string[],
   *   options?: RunOptions & { started?: (child: import('node:child_process').ChildProcess) => void }) => Promise<number>}
   */
  run(program, args, { env = process.env, cwd = this.root, stdio = 'inherit', started = () => {} } = {}) {
    this.signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, env, stdio })
      this.#children.add(child)
      started(child)
      child.once('error', (cause) => reject(new Exit(1, `${program} cannot be started: ${cause.message}`)))
      child.once('exit', (code, signal) => {
        this.#children.delete(child)
        resolve(exitCode(code, signal))
      })
    })
  }
}

/**
 * Calls `gone` when the npm process that started this one dies. npm forwards signals to its shell only, and the shell
 * doesn't forward them: without this watch, killing `npm start` leaves its server running. Does nothing unless npm
 * started this process. Returns a function that ends the watch.
 *
 * @type {(gone: () => void, options?: { everyMs?: number }) => () => void}
 */
export function watchNpm(gone, { everyMs = 250 } = {}) {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const npm = findNpm(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && processIsAlive(npm)) return
    clearInterval(timer)
    gone()
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** The process id of npm: the parent, or the parent's parent if the parent is the shell that npm runs scripts with. */
function findNpm(pid) {
  const [, name = '', parent = ''] = /^\d+ \((.*)\) \S (\d+) /s.exec(readStat(pid)) ?? []
  return /^(sh|bash|dash|ash|zsh|ksh)$/.test(name) ? Number(parent) : pid
}

/** `/proc/<pid>/stat`, or an empty string where it does not exist. There, only a change of the parent is noticed. */
function readStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}
