import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { destination } from 'pino'

interface Rotation {
  /** A longer log continues in the next file, except while writes fail. */
  readonly bytes: number
  /** Includes the current file. */
  readonly count: number
}

interface LogName {
  readonly stem: string
  readonly extension: string
}

interface LogFile {
  readonly path: string
  readonly number: number
}

/** Names are `<stem>.<number><extension>`. */
export const logNames = {
  server: { stem: 'server', extension: '.log' },
  errors: { stem: 'error', extension: '.log' },
  audit: { stem: 'audit', extension: '.jsonl' },
} as const satisfies Readonly<Record<string, LogName>>

const bufferBytes = 16_000
const flushIntervalMs = 500
/** Limit while the disk accepts no data. Further lines are dropped. */
const maxBufferedBytes = 16 * 1024 * 1024

/** Rotating files in `logs/`, readable only by their owner. */
export class LogFiles {
  readonly all: RotatingFile
  readonly errors: RotatingFile
  readonly audit: RotatingFile
  readonly #listeners = new Set<(error: unknown) => void>()

  constructor(dataDir: string, rotation: Rotation) {
    const folder = join(dataDir, 'logs')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const onFailure = (error: unknown): void => {
      for (const listener of this.#listeners) listener(error)
    }
    this.all = new RotatingFile(folder, logNames.server, rotation, onFailure)
    this.errors = new RotatingFile(folder, logNames.errors, rotation, onFailure)
    this.audit = new RotatingFile(folder, logNames.audit, rotation, onFailure)
  }

  onFailure(listener: (error: unknown) => void): void {
    this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    await Promise.all([this.all.close(), this.errors.close(), this.audit.close()])
  }
}

/** Returns files, oldest first. */
export function listLogFiles(folder: string, name: LogName): readonly LogFile[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .flatMap((entry) => {
      if (!entry.startsWith(`${name.stem}.`) || !entry.endsWith(name.extension)) return []
      const digits = entry.slice(name.stem.length + 1, -name.extension.length)
      return /^\d+$/.test(digits) ? [{ path: join(folder, entry), number: Number(digits) }] : []
    })
    .sort((a, b) => a.number - b.number)
}

type Stream = ReturnType<typeof destination> & { readonly destroyed: boolean; write(bytes: Buffer): boolean }

class RotatingFile {
  readonly #folder: string
  readonly #name: LogName
  readonly #rotation: Rotation
  readonly #onFailure: (error: unknown) => void
  readonly #closing = new Set<Promise<void>>()
  #number: number
  #bytes: number
  #stream: Stream | undefined
  #isFailing = false

  constructor(folder: string, name: LogName, rotation: Rotation, onFailure: (error: unknown) => void) {
    this.#folder = folder
    this.#name = name
    this.#rotation = rotation
    this.#onFailure = onFailure
    const newestFile = listLogFiles(folder, name).at(-1)
    this.#number = newestFile?.number ?? 1
    this.#bytes = newestFile === undefined ? 0 : statSync(newestFile.path).size
    this.#stream = this.#open()
  }

  /** Writes one or more lines with their line breaks. Never throws. */
  write(lines: string): void {
    const bytes = Buffer.from(lines)
    // On a full disk, rotation would replace the oldest file with an empty one.
    const mayRotate = this.#bytes > 0 && !this.#isFailing
    if (mayRotate && this.#bytes + bytes.length > this.#rotation.bytes) this.#rotate()
    this.#stream ??= this.#open()
    if (this.#stream === undefined) return
    this.#bytes += bytes.length
    this.#stream.write(bytes)
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
        // In text mode, sonic-boom would measure and copy the whole buffer for each line.
        contentMode: 'buffer',
        minLength: bufferBytes,
        maxLength: maxBufferedBytes,
        periodicFlush: flushIntervalMs,
      }) as Stream
      stream.on('error', (error) => {
        if (stream === this.#stream) this.#isFailing = true
        this.#onFailure(error)
      })
      stream.on('write', (bytes: number) => {
        // Flushing an empty buffer succeeds even on a full disk.
        if (stream === this.#stream && bytes > 0) this.#isFailing = false
      })
      stream.on('drop', (bytes: Buffer) => {
        this.#bytes -= bytes.length
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

async function closeStream(stream: Stream): Promise<void> {
  const whenClosed = once(stream, 'close')
  stream.end()
  try {
    await whenClosed
  } catch {
    // After a failed write, the stream does not close the file.
    if (stream.destroyed) return
    const closed = once(stream, 'close')
    stream.destroy()
    await closed.catch(() => {})
  }
}
