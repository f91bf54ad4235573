import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { WorkerError } from '@causeway/worker'

/** A reader without requests for this time ends its process. */
const idleMs = 200

/**
 * Reads contents of a repository, one after the other, with one `git cat-file --batch`: to start a process for each content
 * takes milliseconds of the main thread.
 */
export class GitReader {
  readonly #start: () => Promise<ChildProcessWithoutNullStreams>
  #batch: Batch | undefined
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0
  #idleTimer: NodeJS.Timeout | undefined

  /** `start` returns a running `git cat-file --batch`. */
  constructor(start: () => Promise<ChildProcessWithoutNullStreams>) {
    this.#start = start
  }

  /**
   * Passes the parts of a content to `write`. Returns false for an unknown name and for a damaged content. Throws `WORKER_LOST`
   * if git was killed, and what `write` throws.
   */
  read(name: string, write: (part: Buffer) => void | Promise<void>): Promise<boolean> {
    clearTimeout(this.#idleTimer)
    this.#pending += 1
    const result = this.#last.then(() => this.#next(name, write))
    this.#last = result
      .catch(() => undefined)
      .then(() => {
        this.#pending -= 1
        if (this.#pending === 0) this.#idleTimer = setTimeout(() => this.#end(), idleMs)
      })
    return result
  }

  async #next(name: string, write: (part: Buffer) => void | Promise<void>): Promise<boolean> {
    this.#batch ??= new Batch(await this.#start())
    try {
      return await this.#batch.read(name, write)
    } catch (error) {
      // The rest of the output belongs to a content that is not read any more.
      this.#end()
      throw error
    } finally {
      if (this.#batch?.hasEnded) this.#end()
    }
  }

  #end(): void {
    this.#batch?.end()
    this.#batch = undefined
  }
}

/** A running `git cat-file --batch`. */
class Batch {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #exited: Promise<NodeJS.Signals | null>
  readonly #output: AsyncIterator<Buffer>
  #buffer: Buffer = Buffer.alloc(0)
  hasEnded = false

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#exited = new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)))
    // The end of the output reports a process that ended.
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.stderr.resume()
    this.#output = child.stdout[Symbol.asyncIterator]()
  }

  /** The response is `<id> <type> <size>` and the content, each with a newline, or `<name> missing`. */
  async read(name: string, write: (part: Buffer) => void | Promise<void>): Promise<boolean> {
    this.#child.stdin.write(`${name}\n`)
    const header = await this.#readLine()
    if (header === undefined) return this.#reportEnd()
    const size = /^\w+ blob (\d+)$/.exec(header)?.[1]
    if (size === undefined) return false
    let rest = Number(size)
    while (rest > 0) {
      if (this.#buffer.length === 0 && !(await this.#fill())) return this.#reportEnd()
      const part = this.#buffer.subarray(0, rest)
      this.#buffer = this.#buffer.subarray(part.length)
      rest -= part.length
      await write(part)
    }
    await this.#readLine()
    return true
  }

  end(): void {
    this.hasEnded = true
    this.#child.stdin.end()
    this.#child.stdout.destroy()
  }

  async #readLine(): Promise<string | undefined> {
    let end = this.#buffer.indexOf('\n')
    for (; end < 0; end = this.#buffer.indexOf('\n')) if (!(await this.#fill())) return undefined
    const line = this.#buffer.toString('utf8', 0, end)
    this.#buffer = this.#buffer.subarray(end + 1)
    return line
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#output.next()
    if (done) return false
    this.#buffer = this.#buffer.length === 0 ? value : Buffer.concat([this.#buffer, value])
    return true
  }

  /** Git ends with an error at a damaged content. */
  async #reportEnd(): Promise<false> {
    this.hasEnded = true
    const signal = await this.#exited
    if (signal === null) return false
    throw new WorkerError('WORKER_LOST', `git was ended by ${signal}`, { remedy: 'call again' })
  }
}
