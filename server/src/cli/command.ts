import { CausewayError, type Machine } from '@causeway/protocol'
import type { CommandLine, FlagSyntax } from '../config/command-line.ts'
import type { Config } from '../config/config.ts'
import type { Invocation } from '../config/read-config.ts'

export interface CommandFlag extends FlagSyntax {
  readonly about: string
}

type CommandFlags = Readonly<Record<string, CommandFlag>>

export interface CommandCall<Flags extends CommandFlags = CommandFlags> {
  /** Arguments, without flags and the command's name. */
  readonly args: readonly string[]
  /** Switches are booleans; flags with `many` are lists. */
  readonly flags: {
    readonly [Name in keyof Flags]: Flags[Name] extends { readonly many: true }
      ? readonly string[]
      : Flags[Name] extends { readonly value: string }
        ? string | undefined
        : boolean
  }
  readonly config: () => Config
  readonly invocation: () => Invocation
  readonly commandLine: Pick<CommandLine, 'settings' | 'envFile'>
  readonly env: NodeJS.ProcessEnv
  readonly machine: Machine
  readonly cwd: string
  readonly print: (line: string) => void
  readonly printJson: (value: unknown) => void
  readonly note: (line: string) => void
  /** `undefined` if there is no terminal. */
  readonly ask: ((question: string, signal?: AbortSignal) => Promise<string>) | undefined
  /** Aborts on stop signals, which then do not end the process. */
  readonly getInterruptSignal: () => AbortSignal
}

export interface Command<Flags extends CommandFlags = CommandFlags> {
  /** One or two words: `mcp add`. */
  readonly name: string
  readonly about: string
  readonly subcommands: readonly Command[]
  /** Forms of arguments for `checkArguments`, such as `add <folder>`. Default: no arguments. */
  readonly forms: readonly string[]
  readonly details?: string
  readonly flags: Flags
  /** Flags of the settings that the command reads. Default: `--data-dir`. */
  readonly settings: readonly string[]
  /** Meanings of exit codes that differ from the defaults. */
  readonly exits: Readonly<Record<number, string>>
  readonly examples: readonly string[]
  run(call: CommandCall<Flags>): Promise<number> | number
}

export const exitCodes = { failure: 1, usage: 2, notRunning: 3, interrupted: 130 } as const

type Declaration<Flags extends CommandFlags> = Pick<Command<Flags>, 'name' | 'about' | 'run'> &
  Partial<Command<Flags>>

export const defineCommand = <const Flags extends CommandFlags>(declaration: Declaration<Flags>): Command => {
  const defaults = {
    subcommands: [],
    forms: [''],
    flags: {},
    settings: ['--data-dir'],
    exits: {},
    examples: [],
  }
  return { ...defaults, ...(declaration as unknown as Declaration<CommandFlags>) }
}

export const createUsageError = (name: string, message: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, { remedy: `see causeway ${name} --help` })

export const listWithSubcommands = (commands: readonly Command[]): readonly Command[] =>
  commands.flatMap((command) => [command, ...command.subcommands])
