import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type CausewayError, findStateFolder, getMachine } from '@causeway/protocol'
import { ServerError } from '../../errors.ts'
import { prettyOptions } from '../../log/log.ts'
import { listLogFiles, logNames } from '../../log/log-files.ts'
import { createUsageError, defineCommand } from '../command.ts'

export const logsCommand = defineCommand({
  name: 'logs',
  about: 'print the end of the log, and optionally new lines as they are written',
  forms: ['[server|errors|audit]'],
  details: `server has everything, errors only the errors, audit one line for each call of a tool. With CAUSEWAY_LOG_FILES=false there
are no files, and a server logs only to its standard error; under systemd, see journalctl --user -u causeway.`,
  flags: {
    follow: { short: 'f', about: 'print new lines until Ctrl-C, also from the next files' },
    lines: { short: 'n', value: '<n>', about: 'number of lines to print (default 50)' },
    json: { about: 'print the lines as they are in the file' },
    path: { about: 'print only the path of the newest file' },
  },
  settings: ['--data-dir', '--log-files'],
  exits: { 1: 'there are no log files' },
  examples: ['causeway logs -f', 'causeway logs errors -n 5', 'causeway logs audit --json | jq .tool'],
  async run({ args, flags, config, env, print, getInterruptSignal }) {
    const kind = (args[0] ?? 'server') as keyof typeof logNames
    const name = logNames[kind]
    const count = Number(flags.lines ?? 50)
    if (!Number.isInteger(count) || count < 0)
      throw createUsageError('logs', `--lines must be a whole number, got "${flags.lines}"`)
    const folder = join(config().dataDir, 'logs')
    const listFiles = (): readonly string[] => listLogFiles(folder, name).map(({ path }) => path)
    const newestFile = listFiles().at(-1)
    if (newestFile === undefined) throw createNoLogFilesError(folder, findBridgeLog(env, config().port))
    if (flags.path) {
      print(newestFile)
      return 0
    }
    const printLine = await createPrinter(kind, flags.json, print)
    const { lines, end } = readLastLines(listFiles(), count)
    for (const line of lines) printLine(line)
    if (!flags.follow) return 0
    const from = { file: newestFile, offset: end }
    for await (const line of followLines(listFiles, from, { signal: getInterruptSignal() })) printLine(line)
    return 0
  },
})

function createNoLogFilesError(folder: string, bridgeLog: string | undefined): CausewayError {
  return new ServerError('NO_LOG_FILES', `there are no log files in ${folder}`, {
    data: { folder },
    ...(bridgeLog !== undefined && { remedy: `a server that a bridge started logs to ${bridgeLog}` }),
  })
}

function findBridgeLog(env: NodeJS.ProcessEnv, port: number): string | undefined {
  const file = join(findStateFolder(getMachine(env)), `server-${port}.log`)
  return existsSync(file) ? file : undefined
}

async function createPrinter(
  kind: string,
  isJson: boolean,
  print: (line: string) => void,
): Promise<(line: string) => void> {
  if (isJson || kind === 'audit') return print
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    ...prettyOptions,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss',
    colorize: process.stdout.isTTY === true,
  })
  return (line) => print(pretty(line).trimEnd())
}

/** Returns the last lines, oldest first. `end`: offset after the last complete line of the newest file. */
export function readLastLines(
  files: readonly string[],
  count: number,
): { lines: readonly string[]; end: number } {
  let lines: readonly string[] = []
  let end: number | undefined
  for (const file of files.toReversed()) {
    const text = readLinesFrom(file, 0)
    end ??= Buffer.byteLength(text)
    lines = [...text.split('\n').filter((line) => line !== ''), ...lines].slice(-count)
    if (lines.length >= count) break
  }
  return { lines, end: end ?? 0 }
}

export async function* followLines(
  listFiles: () => readonly string[],
  from: { readonly file: string; readonly offset: number },
  { signal, pollMs = 200 }: { signal: AbortSignal; pollMs?: number },
): AsyncGenerator<string> {
  let { file, offset } = from
  while (!signal.aborted) {
    // Listed before the read: if there is a next file, this file is complete.
    const files = listFiles()
    const next = files[files.indexOf(file) + 1]
    const text = readLinesFrom(file, offset)
    offset += Buffer.byteLength(text)
    yield* text.split('\n').filter((line) => line !== '')
    if (next !== undefined) {
      file = next
      offset = 0
    } else if (text === '') await wait(pollMs, undefined, { signal }).catch(() => {})
  }
}

/** Returns complete lines after `offset` bytes. */
function readLinesFrom(file: string, offset: number): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset))
    // The read may end within a line or character.
    const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset))
    return read.subarray(0, read.lastIndexOf(0x0a) + 1).toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}
