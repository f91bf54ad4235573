/** What stands on the command line: words, flags of settings, and flags of a command. */
import { parseArgs } from 'node:util'
import { closest } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { flagOf, type SettingKey, settings } from './config.ts'

/** A flag that is no setting. */
export interface OwnFlag {
  /** What it is followed by, as shown: `<n>`; a flag without it is a switch. */
  readonly value?: string
  /** One letter. */
  readonly short?: string
}

/** The parts of a command line. */
export interface CommandLine {
  readonly settings: Partial<Record<SettingKey, string>>
  readonly envFile: string | undefined
  /** What is no flag, in order: `['roots', 'add', '/data']`. */
  readonly words: readonly string[]
  readonly help: boolean
  readonly version: boolean
  /** Flags that are no settings, by name; a switch is `true`. */
  readonly own: ReadonlyMap<string, string | true>
}

const keys = Object.keys(settings) as SettingKey[]
const settingFlags = new Map<string, SettingKey>(keys.map((key) => [flagOf(key), key]))
const alwaysFlags = ['env-file', 'help', 'version']

/** Reads the arguments; throws `INVALID_SETTING` for a flag that nothing has, with the one that may be meant. */
export function readCommandLine(
  argv: readonly string[],
  own: Readonly<Record<string, OwnFlag>> = {},
): CommandLine {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(
        [...settingFlags.keys(), 'env-file'].map((name) => [name, { type: 'string' as const }]),
      ),
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
      ...Object.fromEntries(
        Object.entries(own).map(([name, { value, short }]) => [
          name,
          { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
        ]),
      ),
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const read = new Map<string, string | true>()
  const words: string[] = []
  for (const token of tokens ?? []) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    if (!isKnown(name, own)) throw unknownFlag(rawName, knownFlags(own))
    const isSwitch = isSwitchName(name, own)
    if (isSwitch && value !== undefined) throw invalid(`${rawName} takes no value`)
    if (!isSwitch && value === undefined) throw invalid(`${rawName} needs a value`)
    read.set(name, value ?? true)
  }
  const envFile = read.get('env-file')
  return {
    settings: Object.fromEntries(
      [...settingFlags].flatMap(([name, key]) => (read.has(name) ? [[key, String(read.get(name))]] : [])),
    ),
    envFile: envFile === undefined ? undefined : String(envFile),
    words,
    help: read.has('help'),
    version: read.has('version'),
    own: new Map([...read].filter(([name]) => Object.hasOwn(own, name))),
  }
}

const isKnown = (name: string, own: object): boolean =>
  settingFlags.has(name) || alwaysFlags.includes(name) || Object.hasOwn(own, name)

const isSwitchName = (name: string, own: Readonly<Record<string, OwnFlag>>): boolean =>
  name === 'help' || name === 'version' || (Object.hasOwn(own, name) && own[name]?.value === undefined)

const knownFlags = (own: object): string[] =>
  [...settingFlags.keys(), ...alwaysFlags, ...Object.keys(own)].map((name) => `--${name}`)

const invalid = (message: string): CausewayError => new CausewayError('INVALID_SETTING', message)

/** An unknown flag as an error that names the one that is probably meant. */
export function unknownFlag(flag: string, candidates: readonly string[]): CausewayError {
  const meant = closest(flag, candidates)
  return invalid(`unknown flag: ${flag}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`)
}
