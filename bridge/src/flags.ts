import { parseArgs } from 'node:util'
import { CausewayError } from '@causeway/protocol'
import { nearest } from './nearest.ts'
import { type Option, type OptionName, options } from './options.ts'

/** What was set, by name of the flag: on the command line, else in the environment. */
export interface Flags {
  /** The text of a flag; undefined where it is not set, or set to nothing. */
  text(name: OptionName): string | undefined
  /** All texts of a flag that may be repeated; from the environment, divided by commas. */
  all(name: OptionName): readonly string[]
  /** True for a switch that is on. */
  isOn(name: OptionName): boolean
}

/** Reads the command line; throws `INVALID_SETTING` for what is not declared, with the nearest flag that is. */
export function readFlags(args: readonly string[], env: NodeJS.ProcessEnv): Flags {
  const values = parse(args)
  const fromEnv = (name: OptionName): string | undefined => {
    const { env: variable }: Option = options[name]
    return variable === undefined ? undefined : env[variable]?.trim() || undefined
  }
  return {
    text: (name) => (values[name] as string | undefined) || fromEnv(name),
    all: (name) => (values[name] as string[] | undefined) ?? fromEnv(name)?.split(/\s*,\s*/) ?? [],
    isOn: (name) => values[name] === true || /^(true|1)$/i.test(fromEnv(name) ?? ''),
  }
}

function parse(args: readonly string[]): Readonly<Record<string, unknown>> {
  const declared = Object.entries<Option>(options).map(([name, { value, isMany, short }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const)
    return [name, { type, ...(isMany && { multiple: true }), ...(short && { short }) }] as const
  })
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(declared) }).values
  } catch (cause) {
    // parseArgs says "Unknown option '--x'. To specify a positional …"; the first sentence is the useful one.
    const text = cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : String(cause)
    const unknown = /^Unknown option '--([^']+)'/.exec(text)?.[1]
    const meant = unknown === undefined ? undefined : nearest(unknown, Object.keys(options))
    const message = (text.charAt(0).toLowerCase() + text.slice(1)).split('\n')[0] ?? ''
    throw new CausewayError('INVALID_SETTING', message, {
      remedy: meant === undefined ? 'see --help' : `did you mean --${meant}? See --help`,
      cause,
    })
  }
}
