/** The server's log: JSON lines on stderr, readable ones where a person looks on. */
import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

/** Names under which secrets travel; their values never reach a log. */
const secretNames = ['authorization', 'cookie', 'token', 'apiKey', 'api_key', 'password', 'secret']

/** Protocol detail holds headers and bodies; the other lines are flat, and a search in depth would double their cost. */
const secretPaths = (extra: boolean): string[] =>
  extra ? secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]) : secretNames

/** Makes the log; `extra` adds protocol detail, marked `[MCP]`. */
export function openLog({ extra, destination }: { extra: boolean; destination?: DestinationStream }): Logger {
  const isTerminal = destination === undefined && process.stderr.isTTY === true
  const to =
    destination ??
    (isTerminal
      ? pretty({ destination: 2, ignore: 'pid,hostname', sync: true })
      : gathered(pino.destination({ dest: 2, sync: false, minLength: 4096 })))
  return pino(
    {
      level: extra ? 'debug' : 'info',
      redact: { paths: secretPaths(extra), censor: '[redacted]' },
      base: null,
    },
    to,
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
