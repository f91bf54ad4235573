import { CausewayError, type Machine } from '@causeway/protocol'
import type { CommandLine, FlagSyntax } from '../config/command-line.ts'
import type { Config } from '../config/config.ts'
import type { Invocation } from '../config/read-config.ts'

export interface CommandFlag extends FlagSyntax {
  readonly about: string
}

/** Flags by name, without `--`. */
type CommandFlags = Readonly<Record<string, CommandFlag>>

export interface CommandCall<Flags extends CommandFlags = CommandFlags> {
  /** Arguments other than flags, without the command. */
  readonly args: readonly string[]
  /** A switch is a boolean. A flag with `many` is a list, which may be empty. */
  readonly flags: {
    readonly [Name in keyof Flags]: Flags[Name] extends { readonly many: true }
      ? readonly string[]
      : Flags[Name] extends { readonly value: string }
        ? string | undefined
        : boolean
  }
  /** Throws `INVALID_SETTING`. */
  readonly config: () => Config
  /** The settings with their sources. Throws `INVALID_SETTING`. */
  readonly invocation: () => Invocation
  /** Settings given as flags, unvalidated. */
  readonly given: Pick<CommandLine, 'settings' | 'envFile'>
  readonly env: NodeJS.ProcessEnv
  /** The platform and home folder. */
  readonly machine: Machine
  readonly cwd: string
  /** Writes a line to standard output. */
  readonly print: (line: string) => void
  /** Writes a line to standard error. */
  readonly note: (line: string) => void
  /** `undefined` without a terminal. The signal ends the prompt. */
  readonly ask: ((question: string, signal?: AbortSignal) => Promise<string>) | undefined
  /** Returns a signal that aborts on SIGINT and the other signals that stop a program, which then do not end the process. */
  readonly untilInterrupted: () => AbortSignal
}

export interface Command<Flags extends CommandFlags = CommandFlags> {
  /** One word, or two for a subcommand: `mcp add`. */
  readonly name: string
  readonly about: string
  readonly subcommands?: readonly Command[]
  /** Possible arguments: `add <folder>`, as `checkArguments` describes. Without forms a command takes none. */
  readonly forms?: readonly string[]
  readonly details?: string
  readonly flags: Flags
  /** Related settings, as flags. */
  readonly settings?: readonly string[]
  /** Meanings that differ from those in `exitCodes`. */
  readonly exits?: Readonly<Record<number, string>>
  readonly examples?: readonly string[]
  /** Returns the exit code. */
  run(call: CommandCall<Flags>): Promise<number> | number
}

/** Exit codes of all commands. */
export const exitCodes = { failure: 1, usage: 2, notRunning: 3, interrupted: 130 } as const

/** Gives `run` typed flags. */
export const defineCommand = <const Flags extends CommandFlags>(declaration: Command<Flags>): Command =>
  declaration as unknown as Command // `run` receives the declared flags

export const usageError = (name: string, message: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, { remedy: `see causeway ${name} --help` })

/** Returns each command followed by its subcommands. */
export const listWithSubcommands = (commands: readonly Command[]): readonly Command[] =>
  commands.flatMap((command) => [command, ...(command.subcommands ?? [])])
