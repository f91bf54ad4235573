import { createInterface } from 'node:readline/promises'
import { CausewayError, getMachine, isCausewayError, listStopSignals, type Machine } from '@causeway/protocol'
import {
  type CommandLine,
  createUnknownFlagError,
  describeUnknown,
  parseCommandLine,
} from '../config/command-line.ts'
import { readConfig } from '../config/read-config.ts'
import { version } from '../process/version.ts'
import { adviseCommand } from '../process/welcome.ts'
import { checkArguments } from './check-arguments.ts'
import { type Command, type CommandCall, exitCodes } from './command.ts'
import { commandFlags, commands } from './commands.ts'
import { formatError, isUsageError } from './format.ts'
import { formatCommandHelp, formatUsage } from './help.ts'

interface CommandProcess {
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly machine?: Machine
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>
  readonly stderr: NodeJS.WriteStream
}

export async function runCommand(process: CommandProcess): Promise<number> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  const note = (line: string): void =>
    void process.stderr.write(`causeway: ${adviseCommand(line, process.env)}\n`)
  try {
    const line = parseCommandLine(process.argv, commandFlags)
    const [firstArgument = 'serve', ...rest] = line.args
    const advise = (text: string): void => print(adviseCommand(text, process.env))
    if (line.version || firstArgument === 'version') print(version)
    else if (line.args.length === 0 && line.help) advise(formatUsage(commands))
    else if (firstArgument === 'help')
      advise(rest[0] === undefined ? formatUsage(commands) : formatCommandHelp(findCommand(rest).command))
    else if (line.help && !isToolHelp(line.args)) advise(formatCommandHelp(findCommand(line.args).command))
    else {
      const words = line.help ? ['tools', ...rest.slice(0, 2)] : [firstArgument, ...rest]
      const { command, args } = findCommand(words)
      return await command.run(createCall(command, { ...line, args }, { process, print, note }))
    }
    return 0
  } catch (error) {
    note(describeError(error))
    return getExitCode(error)
  }
}

const isToolHelp = ([command, app, tool]: readonly string[]): boolean =>
  command === 'call' && app !== undefined && tool !== undefined

function describeError(error: unknown): string {
  if (isCausewayError(error)) return formatError(error)
  const { syscall, message, stack } = error as NodeJS.ErrnoException
  return syscall === undefined ? String(stack ?? error) : message
}

function getExitCode(error: unknown): number {
  if (!isCausewayError(error)) return 1
  if (error.code === 'SERVER_NOT_RUNNING') return exitCodes.notRunning
  return isUsageError(error) ? exitCodes.usage : exitCodes.failure
}

function findCommand([name = '', ...args]: readonly string[]): {
  readonly command: Command
  readonly args: readonly string[]
} {
  const command = commands.find((candidate) => candidate.name === name)
  const subcommand = command?.subcommands.find((candidate) => candidate.name === `${name} ${args[0]}`)
  if (subcommand !== undefined) return { command: subcommand, args: args.slice(1) }
  if (command !== undefined) return { command, args }
  const names = commands.map((command) => command.name)
  const problem = describeUnknown('command', name, names)
  const isTool = !problem.includes('did you mean') && /^\w+$/.test(name)
  throw new CausewayError('INVALID_ARGUMENTS', problem, {
    remedy: `see causeway --help${isTool ? `; if ${name} is a tool, run causeway call <app> ${name}` : ''}`,
  })
}

function createCall(
  command: Command,
  { args, flagValues, settings, envFile }: CommandLine,
  { process, print, note }: { process: CommandProcess } & Pick<CommandCall, 'print' | 'note'>,
): CommandCall {
  const { name, flags } = command
  for (const flag of flagValues.keys())
    if (!Object.hasOwn(flags, flag))
      throw createUnknownFlagError(
        `--${flag}`,
        Object.keys(flags).map((flag) => `--${flag}`),
        name,
      )
  checkArguments(command, args)
  const { env, cwd, machine = getMachine(env), stdin, stderr } = process
  const invocation = () => readConfig({ settings, envFile, env, cwd })
  const values = Object.entries(flags).map(([flag, { value, many }]) => [
    flag,
    value === undefined ? flagValues.has(flag) : (flagValues.get(flag) ?? (many ? [] : undefined)),
  ])
  return {
    args,
    flags: Object.fromEntries(values) as CommandCall['flags'],
    commandLine: { settings, envFile },
    config: () => invocation().config,
    invocation,
    env,
    machine,
    cwd,
    print,
    printJson: (value) => print(JSON.stringify(value, null, 2)),
    note,
    ask: stdin.isTTY && stderr.isTTY ? (...prompt) => askUser(process, ...prompt) : undefined,
    getInterruptSignal,
  }
}

async function askUser(
  { stdin, stderr }: CommandProcess,
  question: string,
  signal?: AbortSignal,
): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr })
  try {
    return await (signal === undefined
      ? terminal.question(question)
      : terminal.question(question, { signal }))
  } finally {
    terminal.close()
  }
}

function getInterruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of listStopSignals()) process.once(signal, () => controller.abort())
  return controller.signal
}
