import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { listLogFiles, logNames } from '../log-files.ts'
import { command, misuse } from './command.ts'
import { followLines, lastLines } from './log-tail.ts'

export const logsCommand = command({
  name: 'logs',
  about: 'the end of the log, and its lines as they come',
  forms: ['[server|errors|audit]'],
  details: `Files are written where CAUSEWAY_LOG_FILES is true; else a server logs to its standard error alone, and one that
systemd runs to its journal: journalctl --user -u causeway.`,
  flags: {
    follow: { short: 'f', about: 'print further lines until Ctrl-C, on through the next files' },
    lines: { short: 'n', value: '<n>', about: 'how many lines of the past (default 50)' },
    json: { about: 'lines as they stand in the file' },
    path: { about: 'print the path of the newest file alone' },
  },
  settings: ['--data-dir', '--log-files'],
  exits: { 1: 'there are no log files' },
  examples: ['causeway logs -f', 'causeway logs errors -n 5', 'causeway logs audit --json | jq .tool'],
  async run({ words, flags, config, env, say }) {
    const [kind = 'server', ...more] = words
    const name = Object.hasOwn(logNames, kind) ? logNames[kind as keyof typeof logNames] : undefined
    if (name === undefined || more.length > 0)
      throw misuse('logs', `logs are ${Object.keys(logNames).join(', ')}: ${words.join(' ')}`)
    const count = Number(flags.lines ?? 50)
    if (!Number.isInteger(count) || count < 0)
      throw misuse('logs', `--lines is a whole number: ${flags.lines}`)
    const folder = join(config().dataDir, 'logs')
    const files = (): readonly string[] => listLogFiles(folder, name).map(({ path }) => path)
    const newest = files().at(-1)
    if (newest === undefined) throw noFiles(folder, startedByBridge(env, config().port))
    if (flags.path) {
      say(newest)
      return 0
    }
    const print = await printer(kind, flags.json, say)
    const { lines, end } = lastLines(files(), count)
    for (const line of lines) print(line)
    if (!flags.follow) return 0
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    const from = { file: newest, offset: end }
    for await (const line of followLines(files, from, { signal: stop.signal })) print(line)
    return 0
  },
})

function noFiles(folder: string, other: string | undefined): CausewayError {
  const more = other === undefined ? {} : { remedy: `one that a bridge started writes to ${other}` }
  return new CausewayError('NO_LOG_FILES', `there are no log files in ${folder}`, {
    data: { folder },
    ...more,
  })
}

/** Where a bridge lets a server write that it has started (`--autostart`); undefined where it has started none. */
function startedByBridge(env: NodeJS.ProcessEnv, port: number): string | undefined {
  const base = env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const file = join(base, 'causeway', `server-${port}.log`)
  return existsSync(file) ? file : undefined
}

/** Prints lines for people, or as they are: those of the audit are records and not messages. */
async function printer(
  kind: string,
  isRaw: boolean,
  say: (line: string) => void,
): Promise<(line: string) => void> {
  if (isRaw || kind === 'audit') return say
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({ colorize: process.stdout.isTTY === true, ignore: 'pid,hostname' })
  return (line) => say(pretty(line).trimEnd())
}
