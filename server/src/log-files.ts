/** Rotating files in the data folder: every log line, errors only, and the audit as JSON lines. */
import { once } from 'node:events'
import { mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { destination } from 'pino'

/** The log files of one server. */
export interface LogFiles {
  /** Every log line, as JSON. */
  readonly all: Lines
  /** Errors only. */
  readonly errors: Lines
  /** Audit entries. */
  readonly audit: Lines
  /** Calls the listener with every error of a write. */
  onFailure(listener: (error: unknown) => void): void
  /** Writes buffered lines and closes the files. */
  close(): Promise<void>
}

/** Accepts complete lines, each with its line break. */
export interface Lines {
  write(line: string): void
}

/** When files rotate. */
export interface Rotation {
  /** A line that would exceed this size, in bytes, starts the next file, except while writes fail. */
  readonly bytes: number
  /** Number of files kept of each kind, including the current one. */
  readonly count: number
}

const bufferBytes = 4096
const flushIntervalMs = 500
/** Limit for lines that the disk has not accepted yet. Further lines are dropped; stderr has them. */
const maxBufferedBytes = 16 * 1024 * 1024

/** Opens `logs/server.N.log`, `logs/error.N.log` and `logs/audit.N.jsonl`, readable by their owner only. */
export function openLogFiles(dataDir: string, rotation: Rotation): LogFiles {
  const folder = join(dataDir, 'logs')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const listeners = new Set<(error: unknown) => void>()
  const onFailure = (error: unknown): void => {
    for (const listener of listeners) listener(error)
  }
  const open = (name: LogName) => new RotatingFile(folder, name, rotation, onFailure)
  const [all, errors, audit] = [open(logNames.server), open(logNames.errors), open(logNames.audit)]
  const close = async () => void (await Promise.all([all.close(), errors.close(), audit.close()]))
  return { all, errors, audit, onFailure: (listener) => void listeners.add(listener), close }
}

/** Lists `<stem>.<number><extension>` in a folder, oldest first. Empty if the folder does not exist. */
export function listLogFiles(folder: string, name: LogName): readonly LogFile[] {
  return readNames(folder)
    .flatMap((entry) => {
      if (!entry.startsWith(`${name.stem}.`) || !entry.endsWith(name.extension)) return []
      const digits = entry.slice(name.stem.length + 1, -name.extension.length)
      return /^\d+$/.test(digits) ? [{ path: join(folder, entry), number: Number(digits) }] : []
    })
    .sort((one, other) => one.number - other.number)
}

/** The parts of a log file's name around its number. */
interface LogName {
  readonly stem: string
  readonly extension: string
}

/** Kind of log, as `causeway logs` names it -> its files. */
export const logNames = {
  server: { stem: 'server', extension: '.log' },
  errors: { stem: 'error', extension: '.log' },
  audit: { stem: 'audit', extension: '.jsonl' },
} as const satisfies Readonly<Record<string, LogName>>

interface LogFile {
  readonly path: string
  readonly number: number
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** `destroyed` is missing from the types of sonic-boom. */
type Stream = ReturnType<typeof destination> & { readonly destroyed: boolean }

/** Appends lines to the file with the highest number and starts the next one when it is full. */
class RotatingFile implements Lines {
  readonly #folder: string
  readonly #name: LogName
  readonly #rotation: Rotation
  readonly #onFailure: (error: unknown) => void
  /** Resolve when the files before the current one are written. */
  readonly #closing = new Set<Promise<void>>()
  #number: number
  #bytes: number
  /** `undefined` if the current file cannot be opened. */
  #stream: Stream | undefined
  /** Whether the last write to the current file failed. */
  #isFailing = false

  constructor(folder: string, name: LogName, rotation: Rotation, onFailure: (error: unknown) => void) {
    this.#folder = folder
    this.#name = name
    this.#rotation = rotation
    this.#onFailure = onFailure
    const newest = listLogFiles(folder, name).at(-1)
    this.#number = newest?.number ?? 1
    this.#bytes = newest === undefined ? 0 : statSync(newest.path).size
    this.#stream = this.#open()
  }

  /** Never throws: a full disk costs lines of a file, not the server, and stderr has every line. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    // A new file on a full disk would stay empty, and the oldest one would be removed for it.
    const mayRotate = this.#bytes > 0 && !this.#isFailing
    if (mayRotate && this.#bytes + bytes > this.#rotation.bytes) this.#rotate()
    this.#stream ??= this.#open()
    if (this.#stream === undefined) return
    this.#bytes += bytes
    this.#stream.write(line)
  }

  async close(): Promise<void> {
    this.#release()
    await Promise.all(this.#closing)
  }

  #rotate(): void {
    this.#release()
    this.#number++
    this.#bytes = 0
    this.#isFailing = false
  }

  /** Closes the current file once its lines are written. */
  #release(): void {
    if (this.#stream === undefined) return
    const closed = closeStream(this.#stream).then(() => void this.#closing.delete(closed))
    this.#closing.add(closed)
    this.#stream = undefined
  }

  #open(): Stream | undefined {
    const { stem, extension } = this.#name
    try {
      this.#removeOldFiles()
      const stream = destination({
        fd: openSync(join(this.#folder, `${stem}.${this.#number}${extension}`), 'a', 0o600),
        sync: false,
        minLength: bufferBytes,
        maxLength: maxBufferedBytes,
        periodicFlush: flushIntervalMs,
      }) as Stream
      stream.on('error', (error) => {
        if (stream === this.#stream) this.#isFailing = true
        this.#onFailure(error)
      })
      stream.on('write', (bytes: number) => {
        // A flush of an empty buffer writes 0 bytes, which succeeds on a full disk.
        if (stream === this.#stream && bytes > 0) this.#isFailing = false
      })
      stream.on('drop', (line: string) => {
        this.#bytes -= Buffer.byteLength(line)
      })
      return stream
    } catch (error) {
      this.#onFailure(error)
      return undefined
    }
  }

  #removeOldFiles(): void {
    const older = listLogFiles(this.#folder, this.#name).filter(({ number }) => number < this.#number)
    const excess = Math.max(0, older.length - this.#rotation.count + 1)
    for (const { path } of older.slice(0, excess)) rmSync(path, { force: true })
  }
}

/** Writes buffered lines and closes the file. Lines that cannot be written are dropped. */
async function closeStream(stream: Stream): Promise<void> {
  const ended = once(stream, 'close')
  stream.end()
  try {
    await ended
  } catch {
    // The stream keeps the file open if its last write fails. It is destroyed already if closing failed.
    if (stream.destroyed) return
    const closed = once(stream, 'close')
    stream.destroy()
    await closed.catch(() => {})
  }
}
