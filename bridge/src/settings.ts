import { CausewayError } from '@causeway/protocol'
import { readFlags } from './flags.ts'
import { readTarget } from './target.ts'

/** Everything that can be set. */
export interface Settings {
  /** Where to post: `http:`, `https:`, or `unix:/path/to.sock:/mcp`. */
  readonly url: URL
  /** Write the debug log. */
  readonly debug: boolean
  /** A session id chosen by the user; without one each process makes its own. */
  readonly session: string | undefined
  /** The longest line towards the client, in bytes; SDK clients drop longer ones silently. 0 is no limit. */
  readonly maxLine: number
  /** How long answers in flight are waited for after the end of input, in milliseconds. */
  readonly drainMs: number
  /** How long a call waits for a server that is away, in milliseconds. */
  readonly waitMs: number
  /** Start the server where none runs. */
  readonly autostart: boolean
  /** The shell command that starts it; without one the server beside the bridge is. */
  readonly serverCommand: string | undefined
  /** What every request carries beside what the protocol asks for. */
  readonly credentials: Credentials
  /** How connections are made. */
  readonly connection: Connection
  /** Globs of tool names: what is listed and callable. */
  readonly tools: { readonly only: readonly string[]; readonly ignore: readonly string[] }
  /** Answer the handshake and lists from the last time while the server is away. */
  readonly offlineList: boolean
  /** Check the set-up instead of relaying. */
  readonly doctor: boolean
  /** Print figures at the end. */
  readonly stats: boolean
  /** The file to record the traffic into. */
  readonly record: string | undefined
  /** The recording to answer from, instead of a server. */
  readonly replay: string | undefined
}

/** Where header fields come from: `Name: value` texts, and files. */
export interface Credentials {
  readonly header: readonly string[]
  readonly headerFile: string | undefined
  readonly tokenFile: string | undefined
}

/** How connections are made. */
export interface Connection {
  /** A proxy's URL, or `env` for the usual variables. */
  readonly proxy: string | undefined
  /** A file of certificates to trust. */
  readonly ca: string | undefined
  /** Trust every certificate. */
  readonly insecure: boolean
}

/** What the command line asks for. */
export type Command = 'help' | 'version' | Settings

/**
 * SDK clients drop what they have buffered when it exceeds 10 MiB; the last chunk of a line may hold the beginning
 * of the next, so one pipe buffer is kept free.
 */
const defaultMaxLine = 10 * 1024 * 1024 - 64 * 1024
const sessionPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Reads flags, then the environment, then defaults; throws `INVALID_SETTING` that names what is wrong. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const flags = readFlags(args, env)
  if (flags.isOn('help')) return 'help'
  if (flags.isOn('version')) return 'version'
  return {
    url: readTarget(flags.text('url'), flags.text('app')),
    debug: /^(true|1)$/i.test(env.DEBUG?.trim() ?? ''),
    session: readSession(env.CAUSEWAY_SESSION),
    maxLine: readNumber('--max-line', flags.text('max-line'), defaultMaxLine),
    drainMs: readNumber('--drain', flags.text('drain'), 5000),
    waitMs: readNumber('--wait', flags.text('wait'), 20_000),
    autostart: flags.isOn('autostart'),
    serverCommand: flags.text('server-command'),
    credentials: {
      header: flags.all('header'),
      headerFile: flags.text('header-file'),
      tokenFile: flags.text('token-file'),
    },
    connection: {
      proxy: flags.text('proxy'),
      ca: flags.text('ca'),
      insecure: flags.isOn('insecure'),
    },
    tools: { only: readGlobs(flags.all('only')), ignore: readGlobs(flags.all('ignore')) },
    offlineList: flags.isOn('offline-list'),
    doctor: flags.isOn('doctor'),
    stats: flags.isOn('stats'),
    record: flags.text('record'),
    replay: flags.text('replay'),
  }
}

const readGlobs = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(/\s*,\s*/)).filter((glob) => glob !== '')

function readSession(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || sessionPattern.test(text)) return text || undefined
  throw new CausewayError('INVALID_SETTING', `not a session id: CAUSEWAY_SESSION=${text}`, {
    remedy: 'use 1 to 128 letters, digits, dots, dashes and underscores',
  })
}

function readNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CausewayError('INVALID_SETTING', `not a whole number for ${name}: ${text}`, {
    remedy: 'see --help',
  })
}
