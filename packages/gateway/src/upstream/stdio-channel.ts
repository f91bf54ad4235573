import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { canSignal, classifyMessage, type Message } from '@causeway/protocol'
import { redactSecrets } from '../config/domain/redact.ts'
import { GatewayError } from '../errors.ts'
import type { Channel, ChannelHandlers } from './channel.ts'
import { LineSplitter } from './line-splitter.ts'
import type { PidFile } from './pid-file.ts'
import { isGroupAlive, signalGroup } from './process-group.ts'
import { StderrLog } from './stderr-log.ts'

/** A longer line ends the child. */
const maxLineBytes = 64 * 1024 ** 2
const maxReportedJunk = 20
const maxJunkLength = 500
/** Maximum attempts to find a message in a line. */
const maxMessageStarts = 5

/** Waiting time after the end of stdin, and again after SIGTERM. */
const defaultGracePeriodMs = 2000
const pollMs = 25

/** Maximum wait for a child's last output, which other processes can hold open. */
const drainMs = 200

export interface StdioChannelOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Values to redact in output. */
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly pidFile?: PidFile | undefined
  readonly gracePeriodMs?: number
  /** Lines of stderr, and the first lines of stdout that are not messages. */
  onOutput(source: 'stderr' | 'stdout', line: string): void
}

/** A child in its own process group, with one message per line. */
export class StdioChannel implements Channel {
  readonly hasRequestStreams = false
  readonly #options: StdioChannelOptions
  readonly #stderr: StderrLog
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #exited: Promise<void> = Promise.resolve()
  #drained: Promise<void> = Promise.resolve()
  #closePromise: Promise<void> | undefined
  #junkLineCount = 0
  #isLineTooLong = false
  #hasClosedOutput = false

  constructor(options: StdioChannelOptions) {
    this.#options = options
    this.#stderr = new StderrLog({
      redact: (line) => redactSecrets(line, options.secrets),
      onLine: (line) => options.onOutput('stderr', line),
    })
  }

  get stderr(): readonly string[] {
    return this.#stderr.lines
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get junkLines(): number {
    return this.#junkLineCount
  }

  start(handlers: ChannelHandlers): Promise<void> {
    const { command, args, env, cwd, pidFile } = this.#options
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: canSignal(),
      windowsHide: true,
    })
    this.#child = child
    const stdout = new LineSplitter({
      maxBytes: maxLineBytes,
      onLine: (line) => this.#receive(line, handlers),
      onTooLong: () => this.#endTooLong(),
    })
    // Without free file descriptors, there are no pipes, and `error` is emitted.
    if (child.pid !== undefined) {
      child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
      child.stdout.once('end', () => void this.#endWithoutOutput())
      child.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
      // A child that exits closes its pipe. `exit` reports the end.
      child.stdin.on('error', () => {})
    }
    return new Promise((resolve, reject) => {
      this.#exited = new Promise((ended) => {
        child.once('spawn', () => {
          pidFile?.add(child.pid as number)
          resolve()
        })
        child.once('error', (error) => {
          reject(this.#describeSpawnError(error))
          ended()
        })
        // Grandchildren can keep the pipes open, so `close` may never be emitted.
        child.once('exit', (code, signal) => {
          ended()
          // The last lines can arrive after `exit`.
          this.#drained = waitForOutput([child.stdout, child.stderr]).then(() => {
            stdout.end()
            this.#stderr.end()
            handlers.onClose(this.#describeExit(code, signal))
          })
          void this.close()
        })
      })
    })
  }

  /** Both a missing folder and a missing program are reported as `ENOENT`. */
  #describeSpawnError(error: NodeJS.ErrnoException): Error {
    const { command, cwd } = this.#options
    if (!existsSync(cwd)) return new Error(`its working folder does not exist: ${cwd}`)
    return error.code === 'ENOENT' ? new Error(`its program was not found: ${command}`) : error
  }

  /** Rejects if the child no longer reads. If the child ends, first waits for its last lines of stderr. */
  async send(message: Message): Promise<void> {
    const { stdin } = this.#child as ChildProcessByStdio<Writable, Readable, Readable>
    try {
      await new Promise<void>((resolve, reject) => {
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
      })
    } catch (error) {
      await Promise.race([this.#exited, delay(drainMs, undefined, { ref: false })])
      await this.#drained
      throw error
    }
  }

  useVersion(): void {}

  /** Ends stdin, then sends SIGTERM and SIGKILL to the group. Resolves when all its processes have ended. */
  close(): Promise<void> {
    this.#closePromise ??= this.#stop()
    return this.#closePromise
  }

  async #stop(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    const { pid } = child
    const { gracePeriodMs = defaultGracePeriodMs, pidFile } = this.#options
    child.stdin.end()
    const hasEnded =
      (await this.#waitForEnd(pid, gracePeriodMs)) ||
      (signalGroup(pid, 'SIGTERM') && (await this.#waitForEnd(pid, gracePeriodMs)))
    if (!hasEnded) {
      signalGroup(pid, 'SIGKILL')
      await this.#waitForEnd(pid, gracePeriodMs)
    }
    await this.#drained
    child.stdout.destroy()
    child.stderr.destroy()
    pidFile?.remove(pid)
  }

  async #waitForEnd(pid: number, ms: number): Promise<boolean> {
    const { now } = this.#options
    const deadline = now() + ms
    await Promise.race([this.#exited, delay(ms, undefined, { ref: false })])
    while (isGroupAlive(pid)) {
      if (now() >= deadline) return false
      await delay(pollMs)
    }
    return true
  }

  #receive(line: string, handlers: ChannelHandlers): void {
    if (line.trim() === '') return
    const { messages, junk } = splitLine(line)
    if (junk !== '') {
      this.#junkLineCount += 1
      if (this.#junkLineCount <= maxReportedJunk) {
        const text = redactSecrets(junk, this.#options.secrets)
        this.#options.onOutput('stdout', text.slice(0, maxJunkLength))
      }
    }
    for (const message of messages) handlers.onMessage(message)
  }

  #endTooLong(): void {
    if (this.#isLineTooLong) return
    this.#isLineTooLong = true
    void this.close()
  }

  /** Ends a child that closed its output but is still running. */
  async #endWithoutOutput(): Promise<void> {
    const hasExited = this.#exited.then(() => true)
    if (await Promise.race([hasExited, delay(drainMs, false, { ref: false })])) return
    this.#hasClosedOutput = true
    await this.close()
  }

  #describeExit(code: number | null, signal: NodeJS.Signals | null): Error {
    if (this.#isLineTooLong)
      return new GatewayError('UPSTREAM_INVALID', `it sent a line of more than ${maxLineBytes} bytes`)
    if (this.#hasClosedOutput) return new Error('it closed its output')
    return new Error(signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`)
  }
}

async function waitForOutput(streams: readonly Readable[]): Promise<void> {
  const streamEnds = streams.map((stream) => finished(stream).catch(() => {}))
  await Promise.race([Promise.all(streamEnds), delay(drainMs, undefined, { ref: false })])
}

/**
 * Separates a response from preceding text without a line end. Ignores other messages in such a line. MCP 2025-03-26
 * permits batches.
 */
function splitLine(line: string): { readonly messages: readonly Message[]; readonly junk: string } {
  let start = 0
  for (let attempt = 0; attempt < maxMessageStarts && start >= 0; attempt++) {
    const value = parseJson(line.slice(start))
    if (isMessage(value) && (start === 0 || classifyMessage(value) === 'response'))
      return { messages: [value], junk: line.slice(0, start).trim() }
    if (start === 0 && Array.isArray(value) && value.length > 0 && value.every(isMessage))
      return { messages: value, junk: '' }
    start = line.indexOf('{"', start + 1)
  }
  return { messages: [], junk: line }
}

const isMessage = (value: unknown): value is Message => classifyMessage(value) !== 'invalid'

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
