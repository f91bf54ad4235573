/** Rolling files in the data folder: all lines of the log, those of errors, and the audit as JSON lines. */
import { join } from 'node:path'
import roll from 'pino-roll'

/** The files of one server. */
export interface LogFiles {
  /** Lines of the log, as JSON. */
  readonly all: Lines
  /** Those of errors alone. */
  readonly errors: Lines
  /** Entries of the audit. */
  readonly audit: Lines
  /** Writes what is left. */
  close(): Promise<void>
}

/** Takes lines, each with its end. */
export interface Lines {
  write(line: string): void
}

/** How the files roll. */
export interface Rolling {
  /** Bytes after which a file is closed and the next one begun. */
  readonly bytes: number
  /** Files of each kind that are kept, the one in use among them. */
  readonly count: number
}

/** What is gathered is on the disk after this time at the latest, ms. */
const flushMs = 500

/** Opens `logs/server.N.log`, `logs/error.N.log` and `logs/audit.N.jsonl`, for their user alone. */
export async function openLogFiles(dataDir: string, { bytes, count }: Rolling): Promise<LogFiles> {
  const open = (name: string) =>
    roll({
      file: join(dataDir, 'logs', name),
      size: `${bytes}b`,
      limit: { count: count - 1, removeOtherLogFiles: true },
      mkdir: true,
      mode: 0o600,
      sync: false,
      minLength: 4096,
      periodicFlush: flushMs,
    })
  const [all, errors, audit] = await Promise.all([open('server.log'), open('error.log'), open('audit.jsonl')])
  const streams = [all, errors, audit]
  // A disk that is full costs lines of a file and not the server; stderr has them all the same.
  for (const stream of streams) stream.on('error', () => {})
  return {
    all,
    errors,
    audit,
    close: async () => {
      await Promise.all(
        streams.map(
          (stream) =>
            new Promise<void>((resolve) => {
              stream.once('close', () => resolve()).end()
            }),
        ),
      )
    },
  }
}
