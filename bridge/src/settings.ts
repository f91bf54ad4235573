import { parseArgs } from 'node:util'
import { CausewayError } from '@causeway/protocol'

/** Everything that can be set. */
export interface Settings {
  readonly url: URL
  /** Write the debug log. */
  readonly debug: boolean
  /** A session id chosen by the user; without one each process makes its own. */
  readonly session: string | undefined
  /** The longest line towards the client, in bytes; SDK clients drop longer ones silently. 0 is no limit. */
  readonly maxLine: number
  /** How long answers in flight are waited for after the end of input, in milliseconds. */
  readonly drainMs: number
}

/** What the command line asks for. */
export type Command = 'help' | 'version' | Settings

const defaultUrl = 'http://localhost:3100/mcp'
/**
 * SDK clients drop what they have buffered when it exceeds 10 MiB; the last chunk of a line may hold the beginning
 * of the next, so one pipe buffer is kept free.
 */
const defaultMaxLine = 10 * 1024 * 1024 - 64 * 1024
const sessionPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Reads flags, then the environment, then defaults; throws `INVALID_SETTING` that names what is wrong. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const flags = readFlags(args)
  if (flags.help) return 'help'
  if (flags.version) return 'version'
  return {
    url: readUrl(flags.url ?? env.MCP_SERVER_URL?.trim() ?? ''),
    debug: /^(true|1)$/i.test(env.DEBUG?.trim() ?? ''),
    session: readSession(env.CAUSEWAY_SESSION),
    maxLine: readNumber('--max-line', flags['max-line'] ?? env.CAUSEWAY_MAX_LINE_BYTES, defaultMaxLine),
    drainMs: readNumber('--drain', flags.drain ?? env.CAUSEWAY_DRAIN_MS, 5000),
  }
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        url: { type: 'string' },
        'max-line': { type: 'string' },
        drain: { type: 'string' },
      },
    }).values
  } catch (cause) {
    // parseArgs says "Unknown option '--x'. To specify a positional …"; the first sentence is the useful one.
    const text = cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : String(cause)
    throw invalid(text.charAt(0).toLowerCase() + text.slice(1), 'see --help', cause)
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text || defaultUrl) ? new URL(text || defaultUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid(`not a server URL: ${text}`, `give one like ${defaultUrl} as --url or MCP_SERVER_URL`)
  if (url.username !== '' || url.password !== '')
    throw invalid('the server URL holds a user name or password', 'leave them out of the URL')
  return url
}

function readSession(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || sessionPattern.test(text)) return text || undefined
  throw invalid(
    `not a session id: CAUSEWAY_SESSION=${text}`,
    'use 1 to 128 letters, digits, dots, dashes and underscores',
  )
}

function readNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalid(`not a whole number for ${name}: ${text}`, 'see --help')
}

const invalid = (message: string, remedy: string, cause?: unknown): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { remedy, cause })
