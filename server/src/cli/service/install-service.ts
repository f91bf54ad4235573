import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { type SettingKey, settings } from '../../config/config.ts'
import type { Setting } from '../../config/settings/setting.ts'
import { ServerError } from '../../errors.ts'
import { isInNpxCache } from '../clients/bridge-program.ts'
import { type CommandCall, defineCommand, usageError } from '../command.ts'
import { readIfExists, replaceFile } from '../replace-file.ts'
import { formatServiceUnit } from './service-unit.ts'

const unitName = 'causeway.service'
const defaultHeapMb = 2048
const program = fileURLToPath(new URL('../../../bin/causeway.js', import.meta.url))
/** A checkout runs from its sources. */
const nodeArgs = process.execArgv.filter((arg) => arg.startsWith('--conditions'))

const flags = {
  print: { about: 'print the unit, and write nothing' },
  'dry-run': { about: 'print the unit and its path, and write nothing' },
  enable: { about: 'start the service now and at every login' },
  'heap-mb': { value: '<n>', about: `heap limit in MiB (default ${defaultHeapMb})` },
} as const

type ServiceCall = CommandCall<typeof flags>

export const installServiceCommand = defineCommand({
  name: 'install-service',
  about: 'write a systemd unit that runs the server for this user',
  details: `The unit starts the server with this Node, this working directory, and the settings that are given as flags or in the
environment. Secrets are not written into the unit: API keys, settings that may contain headers, and URLs with a password. The
command lists them; add them to the environment file of the unit. The heap is limited, a crashed server restarts, and stopping
waits for running calls. The service is enabled only with --enable.`,
  flags,
  settings: ['--data-dir', '--port', '--roots', '--recording-roots', '--token-file', '--log-files'],
  exits: { 1: 'systemd is not available for users, or it failed; the error names an alternative' },
  examples: [
    'causeway install-service --recording-roots ~/simulations --enable',
    'causeway install-service --print',
  ],
  run(call) {
    const { flags, env, print, note } = call
    const folder = env.XDG_CONFIG_HOME || join(homedir(), '.config')
    const unit = createUnit(call, join(folder, 'causeway', 'service.env'))
    const path = join(folder, 'systemd/user', unitName)
    if (flags.print || flags['dry-run']) {
      print(unit.trimEnd())
      if (flags['dry-run']) note(`nothing written: ${path}`)
      return 0
    }
    requireSystemd(env)
    if (isInNpxCache(program))
      note('npm may delete this program: run npm install --global --ignore-scripts causeway-mcp first')
    if (call.config().roots.includes(homedir()))
      note('apps may read your entire home folder: pass --roots, or run this command in another folder')
    writeUnit(path, unit, call)
    const steps = [['daemon-reload'], ['enable', '--now', unitName]]
    if (flags.enable) for (const step of steps) systemctl(step, env)
    else for (const step of steps) note(`next: systemctl --user ${step.join(' ')}`)
    note('the service stops when you log out; to prevent it: loginctl enable-linger')
    return 0
  },
})

/** Paths may be relative: the service starts in the same folder. */
function createUnit({ config, cwd, env, flags, given, note }: ServiceCall, environmentFile: string): string {
  const { dataDir, shutdownMs } = config()
  const { plain, secret } = splitSecrets(given, env)
  const existing = parseEnv(readIfExists(environmentFile) ?? '')
  for (const name of secret.filter((name) => existing[name] === undefined))
    note(`${name} was left out: add it to ${environmentFile} (chmod 600)`)
  const envFile = given.envFile === undefined ? [] : ['--env-file', resolve(cwd, given.envFile)]
  return formatServiceUnit({
    node: process.execPath,
    nodeArgs,
    program,
    args: ['serve', ...envFile],
    cwd,
    heapMb: parseHeapMb(flags['heap-mb']),
    environment: { ...plain, [settings.dataDir.env]: dataDir },
    environmentFile,
    shutdownMs,
  })
}

function splitSecrets(given: CommandCall['given'], env: NodeJS.ProcessEnv) {
  const plain: Record<string, string> = {}
  const secret: string[] = []
  for (const key of Object.keys(settings) as SettingKey[]) {
    const { env: name, isSecret }: Setting = settings[key]
    const text = given.settings[key] ?? env[name]
    if (text === undefined) continue
    // A URL with a user name may have a password.
    if (isSecret || /:\/\/[^/\s?#]*@/.test(text)) secret.push(name)
    else plain[name] = text
  }
  return { plain, secret }
}

function parseHeapMb(text: string | undefined): number {
  const heapMb = Number(text ?? defaultHeapMb)
  if (Number.isInteger(heapMb) && heapMb >= 128) return heapMb
  throw usageError('install-service', `--heap-mb must be a whole number of at least 128, got "${text}"`)
}

function writeUnit(path: string, unit: string, { print, note }: ServiceCall): void {
  const before = readIfExists(path)
  if (before === unit) print(`unchanged: ${path}`)
  else {
    // The backup gets the same mode. Units of older versions may contain secrets.
    if (before !== undefined) chmodSync(path, 0o600)
    const backup = replaceFile(path, { text: unit, before, mode: 0o600 })
    print(`written: ${path}`)
    if (backup !== undefined) note(`backup: ${backup}`)
  }
  chmodSync(path, 0o600)
}

function requireSystemd(env: NodeJS.ProcessEnv): void {
  const runtime = env.XDG_RUNTIME_DIR
  const isAvailable =
    process.platform === 'linux' && runtime !== undefined && existsSync(join(runtime, 'systemd'))
  if (isAvailable) return
  throw new ServerError('NO_SERVICE_MANAGER', 'systemd is not available for this user', {
    remedy: `configure another service manager to run: ${[process.execPath, ...nodeArgs, program].join(' ')} serve; or print the unit for another machine with --print`,
  })
}

function systemctl(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr, error } = spawnSync('systemctl', ['--user', ...args], { env, encoding: 'utf8' })
  if (status === 0) return
  throw new ServerError(
    'NO_SERVICE_MANAGER',
    `systemctl --user ${args.join(' ')} failed: ${(error?.message ?? stderr).trim()}`,
    { remedy: 'the unit is written; enable it by hand' },
  )
}
