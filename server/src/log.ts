/** The server's log: JSON lines, readable ones where a person looks on. */
import { type DestinationStream, type Logger, multistream, pino } from 'pino'
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
  /** Gets each line as JSON. */
  readonly destination: DestinationStream
  /** Files that get the lines too. */
  readonly files?: Pick<LogFiles, 'all' | 'errors'> | undefined
}

/** Makes the log. */
export function openLog({ extra, destination, files }: LogOptions): Logger {
  const level = extra ? 'debug' : 'info'
  return pino(
    {
      level,
      redact: { paths: secretPaths(extra), censor: '[redacted]' },
      base: null,
    },
    files === undefined
      ? destination
      : multistream([
          { level, stream: destination },
          { level, stream: files.all },
          { level: 'error', stream: files.errors },
        ]),
  )
}

/** Readable lines on stderr, for a terminal. */
export async function readableLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ destination: 2, ignore: 'pid,hostname', sync: true })
}

/** A line of protocol detail: shown with `EXTRA_LOGGING=true` alone. */
export const protocolDetail = (log: Pick<Logger, 'debug'>, fields: object, message: string): void =>
  log.debug(fields, `[MCP] ${message}`)
