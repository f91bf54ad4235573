import { type DestinationStream, type Logger, multistream, pino } from 'pino'
import type { Config } from '../config/config.ts'
import type { LogFiles } from './log-files.ts'

const secretNames = ['authorization', 'cookie', 'token', 'apiKey', 'api_key', 'password', 'secret']

interface LogOptions {
  /** Adds protocol details, marked `[MCP]`. Implies `debug`. */
  readonly extra: boolean
  readonly level?: Config['logLevel']
  readonly destination: DestinationStream
  readonly files?: Pick<LogFiles, 'all' | 'errors'> | undefined
  readonly tail?: DestinationStream
}

export function openLog({ extra, level: minLevel = 'info', destination, files, tail }: LogOptions): Logger {
  const level = extra ? 'debug' : minLevel
  // Only protocol details are nested. Nested paths double the cost of a line.
  const paths =
    level === 'debug' ? secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) : secretNames
  return pino(
    { level, redact: { paths, censor: '[redacted]' }, base: null },
    files === undefined && tail === undefined
      ? destination
      : multistream([
          { level, stream: destination },
          ...(tail === undefined ? [] : [{ level, stream: tail }]),
          ...(files === undefined
            ? []
            : [
                { level, stream: files.all },
                { level: 'error' as const, stream: files.errors },
              ]),
        ]),
  )
}

export async function openPrettyStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ ...prettyOptions, colorize: process.stderr.isTTY === true, destination: 2, sync: true })
}

export const prettyOptions = {
  ignore: 'pid,hostname',
  singleLine: true,
  translateTime: 'SYS:HH:MM:ss',
} as const

export const logProtocolDetail = (log: Pick<Logger, 'debug'>, fields: object, message: string): void =>
  log.debug(fields, `[MCP] ${message}`)
