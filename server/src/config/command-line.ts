import { parseArgs } from 'node:util'
import { closest } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { type SettingKey, settings, toFlag } from './config.ts'

export interface FlagSyntax {
  /** Name in the help, such as `<n>`. A flag without a value is a switch. */
  readonly value?: string
  readonly short?: string
  readonly many?: true
}

export interface CommandLine {
  readonly settings: Partial<Record<SettingKey, string>>
  readonly envFile: string | undefined
  /** Without flags: `['roots', 'add', '/data']`. */
  readonly args: readonly string[]
  readonly help: boolean
  readonly version: boolean
  /** `true` for a switch, a list for a flag with `many`. */
  readonly flagValues: ReadonlyMap<string, string | true | readonly string[]>
}

const settingFlags = new Map<string, SettingKey>(
  (Object.keys(settings) as SettingKey[]).map((key) => [toFlag(key), key]),
)

/** Throws `INVALID_ARGUMENTS`, with a suggestion for unknown flags. */
export function parseCommandLine(
  argv: readonly string[],
  commandFlags: Readonly<Record<string, FlagSyntax>> = {},
): CommandLine {
  const syntax: Readonly<Record<string, FlagSyntax>> = {
    ...Object.fromEntries([...settingFlags.keys(), 'env-file'].map((name) => [name, { value: '<value>' }])),
    help: { short: 'h' },
    version: { short: 'v' },
    ...commandFlags,
  }
  const { tokens = [] } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(syntax).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...(short !== undefined && { short }) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags = new Map<string, string | true | readonly string[]>()
  const args: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') args.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const flag = Object.hasOwn(syntax, name) ? syntax[name] : undefined
    if (flag === undefined)
      throw createUnknownFlagError(
        rawName,
        Object.keys(syntax).map((name) => `--${name}`),
        args[0],
      )
    if (flag.value === undefined && value !== undefined)
      throw createInvalidError(`${rawName} takes no value`, args[0])
    if (flag.value !== undefined && value === undefined)
      throw createInvalidError(`${rawName} needs a value`, args[0])
    flags.set(name, flag.many ? [...((flags.get(name) as string[]) ?? []), value ?? ''] : (value ?? true))
  }
  const envFile = flags.get('env-file')
  return {
    settings: Object.fromEntries(
      [...settingFlags].flatMap(([name, key]) => (flags.has(name) ? [[key, String(flags.get(name))]] : [])),
    ),
    envFile: envFile === undefined ? undefined : String(envFile),
    args,
    help: flags.has('help'),
    version: flags.has('version'),
    flagValues: new Map([...flags].filter(([name]) => Object.hasOwn(commandFlags, name))),
  }
}

const createInvalidError = (message: string, command = ''): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, {
    remedy: `see causeway ${command} --help`.replace('  ', ' '),
  })

export const createUnknownFlagError = (
  flag: string,
  candidates: readonly string[],
  command?: string,
): CausewayError => createInvalidError(describeUnknown('flag', flag, candidates), command)

export const describeUnknown = (kind: string, name: string, candidates: readonly string[]): string =>
  `unknown ${kind}: ${name}${formatSuggestion(name, candidates)}`

/** Returns '' if no candidate is similar. */
export function formatSuggestion(name: string, candidates: readonly string[]): string {
  const suggestion = closest(name, candidates)
  return suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
}
