/** The server's log: JSON lines on stderr, readable ones where a person looks on. */
import { type DestinationStream, type Logger, multistream, pino } from 'pino'
import pretty from 'pino-pretty'
import type { LogFiles } from './log-files.ts'

/** Names under which secrets travel; their values never reach a log. */
const secretNames = ['authorization', 'cookie', 'token', 'apiKey', 'api_key', 'password', 'secret']

/** Protocol detail holds headers and bodies; the other lines are flat, and a search in depth would double their cost. */
const secretPaths = (extra: boolean): string[] =>
  extra ? secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) : secretNames

/** What a log is made of. */
export interface LogOptions {
  /** Adds protocol detail, marked `[MCP]`. */
  readonly extra: boolean
  /** Default: stderr. */
  readonly destination?: DestinationStream
  /** Files that get the lines too. */
  readonly files?: Pick<LogFiles, 'all' | 'errors'> | undefined
}

/** Makes the log. */
export function openLog({ extra, destination, files }: LogOptions): Logger {
  const isTerminal = destination === undefined && process.stderr.isTTY === true
  const to =
    destination ??
    (isTerminal
      ? pretty({ destination: 2, ignore: 'pid,hostname', sync: true })
      : gathered(pino.destination({ dest: 2, sync: false, minLength: 4096 })))
  const level = extra ? 'debug' : 'info'
  return pino(
    {
      level,
      redact: { paths: secretPaths(extra), censor: '[redacted]' },
      base: null,
    },
    files === undefined
      ? to
      : multistream([
          { level, stream: to },
          { level, stream: files.all },
          { level: 'error', stream: files.errors },
        ]),
  )
}

/** Longest time that a line waits for others, so that many calls share one write; ms. */
const gatherMs = 100

/** Writes what has been gathered at the latest after `gatherMs`; what is left at the end of the process pino writes. */
function gathered(destination: ReturnType<typeof pino.destination>): DestinationStream {
  let isWaiting = false
  const flush = (): void => {
    isWaiting = false
    destination.flush()
  }
  return {
    write(line) {
      destination.write(line)
      if (isWaiting) return
      isWaiting = true
      setTimeout(flush, gatherMs).unref()
    },
  }
}

/** A line of protocol detail: shown with `EXTRA_LOGGING=true` alone. */
export const protocolDetail = (log: Pick<Logger, 'debug'>, fields: object, message: string): void =>
  log.debug(fields, `[MCP] ${message}`)
