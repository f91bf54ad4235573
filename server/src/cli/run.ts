/** From the arguments of the process to the command that they mean. */
import { createInterface } from 'node:readline/promises'
import { closest } from '@causeway/app-kit'
import { CausewayError, errorText, isCausewayError } from '@causeway/protocol'
import { type CommandLine, readCommandLine, unknownFlag } from '../command-line.ts'
import { readConfig } from '../read-config.ts'
import { version } from '../version.ts'
import type { Call, Command } from './command.ts'
import { commands, everyFlag } from './commands.ts'
import { commandHelp, usage } from './help.ts'

/** Where a command runs. */
export interface Surroundings {
  /** Arguments without node and script. */
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>
  readonly stderr: NodeJS.WriteStream
}

/** Runs what the arguments ask for; gives the exit code. Failures are told on standard error. */
export async function runCommand(place: Surroundings): Promise<number> {
  const say = (line: string): void => void place.stdout.write(`${line}\n`)
  const note = (line: string): void => void place.stderr.write(`causeway: ${line}\n`)
  let serves = false
  try {
    const line = readCommandLine(place.argv, everyFlag)
    const [name = 'serve', ...words] = line.words
    serves = name === 'serve'
    if (line.version) say(version)
    else if (line.words.length === 0 && line.help) say(usage(commands))
    else if (name === 'help') say(words[0] === undefined ? usage(commands) : commandHelp(find(words[0])))
    else if (line.help) say(commandHelp(find(name)))
    else return await find(name).run(callOf(find(name), line, words, { place, say, note }))
    return 0
  } catch (error) {
    note(told(error))
    return exitCodeOf(error, serves)
  }
}

/** What a person can do something about in a sentence; a defect with its stack. */
function told(error: unknown): string {
  if (isCausewayError(error)) return errorText(error)
  const { syscall, message, stack } = error as NodeJS.ErrnoException
  return syscall === undefined ? String(stack ?? error) : message
}

/** A wrong command line is told apart from a command that failed; the server has one code for both. */
function exitCodeOf(error: unknown, serves: boolean): number {
  if (serves || !isCausewayError(error)) return 1
  return error.code === 'INVALID_ARGUMENTS' || error.code === 'INVALID_SETTING' ? 2 : 1
}

function find(name: string): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const meant = closest(
    name,
    commands.map((command) => command.name),
  )
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    `unknown command: ${name}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`,
    { remedy: 'see causeway --help' },
  )
}

function callOf(
  { name, flags }: Command,
  { own, settings, envFile }: CommandLine,
  words: readonly string[],
  { place, say, note }: { place: Surroundings } & Pick<Call, 'say' | 'note'>,
): Call {
  for (const given of own.keys())
    if (!Object.hasOwn(flags, given))
      throw unknownFlag(
        `--${given} of ${name}`,
        Object.keys(flags).map((flag) => `--${flag} of ${name}`),
      )
  const { argv, env, cwd, stdin, stderr } = place
  return {
    words,
    flags: Object.fromEntries(
      Object.entries(flags).map(([flag, { value }]) => [
        flag,
        value === undefined ? own.has(flag) : own.get(flag),
      ]),
    ) as Call['flags'],
    given: { settings, envFile },
    config: () => readConfig({ argv, env, cwd, own: everyFlag }).config,
    env,
    cwd,
    say,
    note,
    ask: stdin.isTTY && stderr.isTTY ? (question) => askOn(place, question) : undefined,
  }
}

async function askOn({ stdin, stderr }: Surroundings, question: string): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}
