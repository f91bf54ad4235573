import { parseArgs } from 'node:util'
import { CausewayError, closest } from '@causeway/protocol'
import { createSettingError } from '../errors.ts'
import { isFullView, readTarget } from '../http/target.ts'
import { type OptionName, options } from './options.ts'

export type Settings = Exclude<ReturnType<typeof readSettings>, 'help' | 'version'>
export type Credentials = Settings['credentials']
export type Connection = Settings['connection']

/**
 * SDK clients discard a buffer over 10 MiB, which may also contain the start of the next line, up to one pipe
 * buffer of 64 KiB.
 */
const defaultMaxLine = 10 * 1024 * 1024 - 64 * 1024
const sessionPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Flags have precedence over the environment. Throws `INVALID_SETTING`. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv) {
  const flags = readFlags(args, env)
  if (flags.isOn('help')) return 'help'
  if (flags.isOn('version')) return 'version'
  const [app, view] = [flags.text('app'), flags.text('view')]
  const url = readTarget(flags.text('url'), { app, view })
  return {
    /** `http:`, `https:`, or `unix:/path/to.sock:/mcp`. */
    url,
    /** Whether to select the view by the client's name. */
    selectsView: view === undefined && isFullView(url),
    debug: isTrue(env.DEBUG),
    /** By default, each process creates its own id. */
    session: readSession(env.CAUSEWAY_SESSION),
    /** In bytes; 0 means no limit. */
    maxLine: readNumber('--max-line', flags.text('max-line'), defaultMaxLine),
    drainMs: readNumber('--drain', flags.text('drain'), 5000),
    waitMs: readNumber('--wait', flags.text('wait'), 20_000),
    autostart: flags.isOn('autostart'),
    /** Shell command; default: the server installed with the bridge. */
    serverCommand: flags.text('server-command'),
    credentials: {
      header: flags.all('header'),
      headerFile: flags.text('header-file'),
      tokenFile: flags.text('token-file'),
    },
    oauth: {
      /** `login` and `logout` replace the relay. */
      action: flags.isOn('login') ? 'login' : flags.isOn('logout') ? 'logout' : 'relay',
      clientId: flags.text('client-id'),
      scope: flags.text('scope'),
      /** 0 selects a free port. */
      callbackPort: readPort(flags.text('callback-port')),
    },
    connection: {
      /** A URL, or `env` for the common environment variables. */
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
  } as const
}

/** In a variable, commas separate the values of a repeatable flag. Throws `INVALID_SETTING` for an unknown flag. */
export function readFlags(args: readonly string[], env: NodeJS.ProcessEnv) {
  const values = parseFlags(args)
  const readVariable = (name: OptionName): string | undefined => {
    const variable = options[name].env
    return variable === undefined ? undefined : env[variable]?.trim() || undefined
  }
  return {
    text: (name: OptionName): string | undefined =>
      (values[name] as string | undefined) || readVariable(name),
    all: (name: OptionName): readonly string[] =>
      (values[name] as string[] | undefined) ?? readVariable(name)?.split(/\s*,\s*/) ?? [],
    isOn: (name: OptionName): boolean => values[name] === true || isTrue(readVariable(name)),
  }
}

const isTrue = (text = ''): boolean => /^(true|1)$/i.test(text.trim())

function parseFlags(args: readonly string[]): Readonly<Record<string, unknown>> {
  const parserOptions = Object.entries(options).map(([name, { value, isMany, short }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const)
    return [name, { type, ...(isMany && { multiple: true }), ...(short && { short }) }] as const
  })
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(parserOptions) }).values
  } catch (cause) {
    // parseArgs writes "Unknown option '--x'. To specify a positional …".
    const text = cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : String(cause)
    const unknownOption = /^Unknown option '--([^']+)'/.exec(text)?.[1]
    const suggestion = unknownOption === undefined ? undefined : closest(unknownOption, Object.keys(options))
    const message = (text.charAt(0).toLowerCase() + text.slice(1)).split('\n')[0] ?? ''
    throw new CausewayError('INVALID_SETTING', message, {
      remedy: suggestion === undefined ? 'see --help' : `did you mean --${suggestion}? See --help`,
      cause,
    })
  }
}

const readGlobs = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(/\s*,\s*/)).filter((glob) => glob !== '')

function readSession(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || sessionPattern.test(text)) return text || undefined
  throw createSettingError(
    `not a session id: CAUSEWAY_SESSION=${text}`,
    'use 1 to 128 letters, digits, dots, dashes and underscores',
  )
}

function readPort(text: string | undefined): number {
  const port = readNumber('--callback-port', text, 0)
  if (port <= 65_535) return port
  throw createSettingError(`not a port: --callback-port ${port}`, 'see --help')
}

function readNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw createSettingError(`not a whole number for ${name}: ${text}`, 'see --help')
}
