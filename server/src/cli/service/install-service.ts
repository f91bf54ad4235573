import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { type SettingKey, settings } from '../../config/config.ts'
import type { Setting } from '../../config/settings/setting.ts'
import { ServerError } from '../../errors.ts'
import { isInNpxCache } from '../clients/bridge-program.ts'
import { type CommandCall, createUsageError, defineCommand } from '../command.ts'
import { readIfExists, replaceFile } from '../replace-file.ts'
import { findServiceManager, findUnixConfig, type ServiceManager } from './service-manager.ts'

const defaultHeapMb = 2048
const program = fileURLToPath(new URL('../../../bin/causeway.js', import.meta.url))
const nodeArgs = process.execArgv.filter((arg) => arg.startsWith('--conditions'))

const flags = {
  print: { about: 'print the declaration of the service, and write nothing' },
  'dry-run': { about: 'print the declaration and its path, and write nothing' },
  enable: { about: 'start the service now and at every login' },
  'heap-mb': { value: '<n>', about: `heap limit in MiB (default ${defaultHeapMb})` },
} as const

type ServiceCall = CommandCall<typeof flags>

export const installServiceCommand = defineCommand({
  name: 'install-service',
  about: 'start the server when you log in: a service of systemd, launchd or the Windows Task Scheduler',
  details: `Writes a systemd unit on Linux, a launch agent on macOS, and a task on Windows. It starts the server with this Node, this
working directory, and the settings that are given as flags or in the environment. Secrets are left out: API keys, settings that may
contain headers, and URLs with a password. The command lists them, and the file to which you can add them. The heap is limited, a
crashed server restarts, and stopping waits for running calls, except on Windows. The service starts only with --enable.`,
  flags,
  settings: ['--data-dir', '--port', '--roots', '--recording-roots', '--token-file', '--log-files'],
  exits: { 1: 'there is no service manager for this user, or it failed; the error names an alternative' },
  examples: [
    'causeway install-service --recording-roots ~/simulations --enable',
    'causeway install-service --print',
  ],
  run(call) {
    const { flags, machine, print, note } = call
    const manager = findServiceManager(machine)
    const text = createDeclaration(manager, call)
    const path = manager.file(machine)
    if (flags.print || flags['dry-run']) {
      print(text.trimEnd())
      if (flags['dry-run']) note(`nothing written: ${path}`)
      return 0
    }
    if (!manager.isAvailable(machine)) throw createNoManagerError(manager)
    if (isInNpxCache(program))
      note('npm may delete this program: run npm install --global --ignore-scripts causeway-mcp first')
    if (call.config().roots.includes(machine.home))
      note('apps may read your entire home folder: pass --roots, or run this command in another folder')
    writeDeclaration(path, text, manager, call)
    for (const { command, optional } of manager.steps(path))
      if (flags.enable) runStep(command, { env: call.env, isOptional: optional ?? false })
      else if (!optional) note(`next: ${command.join(' ')}`)
    note(manager.note)
    return 0
  },
})

/** Relative paths stay valid: the service starts in the current folder. */
function createDeclaration(
  manager: ServiceManager,
  { config, cwd, env, flags, commandLine, machine, note }: ServiceCall,
): string {
  const { dataDir, shutdownMs } = config()
  const environmentFile = join(findUnixConfig(machine), 'causeway', 'service.env')
  const { plainVariables, secretNames } = splitSecrets(commandLine, env)
  const existingText = readIfExists(environmentFile)
  for (const name of secretNames.filter((name) => parseEnv(existingText ?? '')[name] === undefined))
    note(
      `${name} was left out: add it to ${environmentFile} (chmod 600)${manager.readsEnvironmentFile ? '' : ' and run this command again'}`,
    )
  const readsFile = existingText !== undefined && !manager.readsEnvironmentFile
  const envFile =
    commandLine.envFile === undefined
      ? readsFile
        ? environmentFile
        : undefined
      : resolve(cwd, commandLine.envFile)
  // A larger young generation uses 20 MB more and saves no time.
  const memoryFlags = [`--max-old-space-size=${parseHeapMb(flags['heap-mb'])}`, '--max-semi-space-size=8']
  const args = ['serve', ...(envFile === undefined ? [] : ['--env-file', envFile])]
  return manager.format({
    command: [process.execPath, ...memoryFlags, ...nodeArgs, program, ...args],
    cwd,
    environment: { ...plainVariables, [settings.dataDir.env]: dataDir },
    environmentFile,
    shutdownMs,
  })
}

function splitSecrets(commandLine: CommandCall['commandLine'], env: NodeJS.ProcessEnv) {
  const plainVariables: Record<string, string> = {}
  const secretNames: string[] = []
  for (const key of Object.keys(settings) as SettingKey[]) {
    const { env: name, isSecret }: Setting = settings[key]
    const text = commandLine.settings[key] ?? env[name]
    if (text === undefined) continue
    // A URL may contain a password.
    if (isSecret || /:\/\/[^/\s?#]*@/.test(text)) secretNames.push(name)
    else plainVariables[name] = text
  }
  return { plainVariables, secretNames }
}

function parseHeapMb(text: string | undefined): number {
  const heapMb = Number(text ?? defaultHeapMb)
  if (Number.isInteger(heapMb) && heapMb >= 128) return heapMb
  throw createUsageError('install-service', `--heap-mb must be a whole number of at least 128, got "${text}"`)
}

function writeDeclaration(
  path: string,
  declaration: string,
  { encoding }: ServiceManager,
  { print, note }: ServiceCall,
): void {
  // Windows requires UTF-16 with a byte order mark.
  const text = encoding === 'utf16le' ? `\ufeff${declaration}` : declaration
  const previousText = readIfExists(path, encoding)
  if (previousText === text) print(`unchanged: ${path}`)
  else {
    // A declaration of an older version may contain secrets.
    if (previousText !== undefined) chmodSync(path, 0o600)
    const backup = replaceFile(path, { text, previousText, mode: 0o600, encoding })
    print(`written: ${path}`)
    if (backup !== undefined) note(`backup: ${backup}`)
  }
  chmodSync(path, 0o600)
}

const createNoManagerError = ({ title }: ServiceManager) =>
  new ServerError('NO_SERVICE_MANAGER', `${title} is not available for this user`, {
    remedy: `configure another service manager to run: ${[process.execPath, ...nodeArgs, program].join(' ')} serve; or print the declaration for another machine with --print`,
  })

function runStep(
  [program = '', ...args]: readonly string[],
  { env, isOptional }: { env: NodeJS.ProcessEnv; isOptional: boolean },
): void {
  const { status, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' })
  if (status === 0 || isOptional) return
  throw new ServerError(
    'NO_SERVICE_MANAGER',
    `${[program, ...args].join(' ')} failed: ${(error?.message ?? stderr).trim()}`,
    { remedy: 'the declaration is written; enable it by hand' },
  )
}
