/**
 * The tasks of Help: `npm run help:build`, `help:rebuild`, `help:stats`, `help:export`, `help:import`, `help:verify`.
 * Settings are the server's; flags such as `--data-dir` follow `--`. A server on the same data folder keeps responding and uses
 * a new index immediately.
 *
 * Exit codes: 0 success; 1 the task failed or some files could not be read; 2 the task conflicts with existing data or another
 * build; 3 an unsafe export was deleted.
 */
import { resolve } from 'node:path'
import { CausewayError, formatErrorText, isCausewayError } from '@causeway/protocol'
import { openMaintenance } from '../packages/app-help/src/build/maintenance.ts'
import { parseCommandLine } from '../server/src/config/command-line.ts'
import type { Config } from '../server/src/config/config.ts'
import { readConfig } from '../server/src/config/read-config.ts'

const [task = '', ...argv] = process.argv.slice(2)
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())

const say = (line: string): void => void process.stderr.write(`help: ${line}\n`)
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
const reported = new Set<string>()
const folder = ([name]: readonly string[]): string => {
  if (name !== undefined) return resolve(name)
  throw new CausewayError('INVALID_ARGUMENTS', 'no folder given', {
    remedy: `run npm run help:${task} -- <folder>`,
  })
}

type Help = ReturnType<typeof openMaintenance>

const build = async (help: Help, rebuild: boolean): Promise<void> => {
  const report = await help.build(rebuild)
  print(report)
  for (const { file, reason } of report.failed) say(`not indexed: ${file}: ${reason}`)
  for (const warning of report.warnings) say(`note: ${warning}`)
  if (report.failed.length > 0) process.exitCode = 1
}

const tasks: Readonly<Record<string, (help: Help, args: readonly string[]) => Promise<void>>> = {
  build: (help) => build(help, false),
  rebuild: (help) => build(help, true),
  async build_dev(help) {
    say('help:build_dev is deprecated and will be removed.')
    say('help:build indexes public and internal sources; an export contains only public sources.')
    say('Running help:build.')
    await build(help, false)
  },
  stats: async (help) => print(await help.stats()),
  export: async (help, args) => print(await help.export(folder(args))),
  verify: async (help, args) => print(await help.verify(folder(args))),
  import: async (help, args) => print(await help.import(folder(args))),
}

const open = (config: Config): Help =>
  openMaintenance({
    dir: config.dataDir,
    settings: config,
    cwd: process.cwd(),
    signal: stop.signal,
    progress(done, total, message) {
      // One line for each step and quarter, not for every file.
      const share = total === undefined || total === 0 ? '' : ` ${Math.floor((done / total) * 4) * 25} %`
      if (!reported.has(message + share)) say(`${message}${share}`)
      reported.add(message + share)
    },
  })

const exitCodes: Readonly<Record<string, number>> = {
  EMBEDDING_SPACE_MISMATCH: 2,
  HELP_CHUNKING_CHANGED: 2,
  HELP_IMPORT_REFUSED: 2,
  HELP_BUILD_RUNNING: 2,
  HELP_EXPORT_UNSAFE: 3,
}

try {
  const run = Object.hasOwn(tasks, task) ? tasks[task] : undefined
  if (run === undefined) {
    say(`unknown task "${task}"; use one of ${Object.keys(tasks).join(', ')}`)
    process.exitCode = 1
  } else {
    const line = parseCommandLine(argv)
    const { config } = readConfig({ ...line, env: process.env, cwd: process.cwd() })
    await run(open(config), line.args)
  }
} catch (error) {
  if (!isCausewayError(error)) throw error
  say(formatErrorText(error))
  process.exitCode = exitCodes[error.code] ?? 1
}
