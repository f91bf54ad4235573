/** What a command of `causeway` is. Its help, its part of docs/cli.md and the check of its flags come from the declaration. */
import { CausewayError } from '@causeway/protocol'
import type { CommandLine, OwnFlag } from '../command-line.ts'
import type { Config } from '../config.ts'

/** A flag of a command. */
export interface CommandFlag extends OwnFlag {
  readonly about: string
}

/** The flags of a command by name. */
export type CommandFlags = Readonly<Record<string, CommandFlag>>

/** What was given: text for a flag with a value, true or false for a switch. */
export type FlagValues<Flags extends CommandFlags> = {
  readonly [Name in keyof Flags]: Flags[Name] extends { readonly value: string }
    ? string | undefined
    : boolean
}

/** One call of a command. */
export interface Call<Flags extends CommandFlags = CommandFlags> {
  /** The words behind its name. */
  readonly words: readonly string[]
  readonly flags: FlagValues<Flags>
  /** Every setting; throws `INVALID_SETTING`. Read when asked for, since not every command needs sound settings. */
  readonly config: () => Config
  /** The settings as the command line gives them. */
  readonly given: Pick<CommandLine, 'settings' | 'envFile'>
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** Writes a line to standard output: what was asked for. */
  readonly say: (line: string) => void
  /** Writes a line to standard error: what is said besides. */
  readonly note: (line: string) => void
  /** Asks the person at the terminal; undefined where there is none. */
  readonly ask: ((question: string) => Promise<string>) | undefined
}

/** A command, declared once. */
export interface Command<Flags extends CommandFlags = CommandFlags> {
  readonly name: string
  /** One line, for the list of commands. */
  readonly about: string
  /** What may follow the name, one form each: `add <folder>`; the empty text for nothing. */
  readonly forms: readonly string[]
  /** Further paragraphs of its help. */
  readonly details?: string
  readonly flags: Flags
  /** The settings that people give it most, by their flags. */
  readonly settings?: readonly string[]
  /** Exit codes beside 0 for done and 2 for a command line that is wrong. */
  readonly exits?: Readonly<Record<number, string>>
  readonly examples?: readonly string[]
  /** Does it; gives the exit code. */
  run(call: Call<Flags>): Promise<number> | number
}

/** Declares a command, so that its flags have types in `run`. */
export const command = <const Flags extends CommandFlags>(declaration: Command<Flags>): Command =>
  declaration as unknown as Command // the flags that `run` gets are those of the declaration: `callOf` reads them by it

/** A command line that does not fit the command. */
export const misuse = (name: string, message: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, { remedy: `see causeway ${name} --help` })
