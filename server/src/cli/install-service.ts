import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { CausewayError } from '@causeway/protocol'
import { type Config, type SettingKey, settings } from '../config.ts'
import type { Setting } from '../settings/setting.ts'
import { isPassing } from './bridge-program.ts'
import { type Call, command, misuse } from './command.ts'
import { replaceFile, textOf } from './replace-file.ts'
import { serviceUnit } from './service-unit.ts'

const unitName = 'causeway.service'
const defaultHeapMb = 2048
// The same path from src/cli and from dist/cli.
const program = fileURLToPath(new URL('../../bin/causeway.js', import.meta.url))
/** In a checkout the server runs from its sources, which need this argument. */
const nodeArgs = process.execArgv.filter((arg) => arg.startsWith('--conditions'))

export const installServiceCommand = command({
  name: 'install-service',
  about: 'write a systemd unit that runs the server for this user',
  forms: [''],
  details: `The unit starts the server as it would be started here and now: with this Node, this folder, and the settings that are
given by flag or environment. Keys, what may hold headers, and addresses with a password are left out and told: they belong into
the file of settings that the unit reads. The heap is
capped, a server that fails is started again, and it is stopped after its calls. Without --enable nothing is switched on.`,
  flags: {
    print: { about: 'print the unit, and write nothing' },
    enable: { about: 'switch it on now, and at every login' },
    'heap-mb': { value: '<n>', about: `cap of the heap in MiB (default ${defaultHeapMb})` },
  },
  settings: ['--data-dir', '--port', '--roots', '--recording-roots', '--token-file', '--log-files'],
  exits: { 1: 'this system has no systemd for users, or it refused; what to run instead is told' },
  examples: [
    'causeway install-service --recording-roots ~/simulations --enable',
    'causeway install-service --print',
  ],
  run(call) {
    const { words, flags, env, cwd, given, say, note } = call
    if (words.length > 0) throw misuse('install-service', `it takes no words: ${words.join(' ')}`)
    const folder = env.XDG_CONFIG_HOME || join(homedir(), '.config')
    const config = call.config()
    const environmentFile = join(folder, 'causeway', 'service.env')
    const { plain, secret } = givenSettings(given, env)
    const unit = unitOf({ config, plain, given, cwd, heapMb: heapOf(flags['heap-mb']), environmentFile })
    const kept = parseEnv(textOf(environmentFile) ?? '')
    for (const name of secret.filter((one) => kept[one] === undefined))
      note(`${name} left out: put it into ${environmentFile} (chmod 600)`)
    if (flags.print) {
      say(unit.trimEnd())
      return 0
    }
    requireSystemd(env)
    if (isPassing(program))
      note(
        'this program is in a folder that npm empties when it likes: npm install --global @causeway/server first',
      )
    if (config.roots.includes(homedir()))
      note('apps may read all of your home folder: say --roots, or run this in another folder')
    const path = join(folder, 'systemd/user', unitName)
    const before = textOf(path)
    if (before === unit) say(`unchanged: ${path}`)
    else {
      // The copy of the old one keeps its rights, and an older one may hold secrets.
      if (before !== undefined) chmodSync(path, 0o600)
      const backup = replaceFile(path, { text: unit, before, mode: 0o600 })
      say(`written: ${path}`)
      if (backup !== undefined) note(`as it was: ${backup}`)
    }
    // Also one that was there with other rights.
    chmodSync(path, 0o600)
    const steps = [['daemon-reload'], ['enable', '--now', unitName]]
    if (flags.enable) for (const step of steps) systemctl(step, env)
    else for (const step of steps) note(`next: systemctl --user ${step.join(' ')}`)
    note('it ends with your last login, unless: loginctl enable-linger')
    return 0
  },
})

interface UnitParts {
  readonly config: Config
  readonly plain: Readonly<Record<string, string>>
  readonly given: Call['given']
  readonly cwd: string
  readonly heapMb: number
  readonly environmentFile: string
}

/** Relative paths stay as they were given: the service starts in the same folder. */
function unitOf({ config, plain, given, cwd, heapMb, environmentFile }: UnitParts): string {
  const file = given.envFile === undefined ? [] : ['--env-file', resolve(cwd, given.envFile)]
  return serviceUnit({
    node: process.execPath,
    nodeArgs,
    program,
    args: ['serve', ...file],
    cwd,
    heapMb,
    environment: { ...plain, [settings.dataDir.env]: config.dataDir },
    environmentFile,
    shutdownMs: config.shutdownMs,
  })
}

interface Given {
  /** What may stand in a unit, by variable. */
  readonly plain: Readonly<Record<string, string>>
  /** The variables of what may not. */
  readonly secret: readonly string[]
}

/** What flags and environment say. */
function givenSettings(given: Call['given'], env: NodeJS.ProcessEnv): Given {
  const found = (Object.keys(settings) as SettingKey[]).flatMap((key) => {
    const row: Setting = settings[key]
    const text = given.settings[key] ?? env[row.env]
    return text === undefined ? [] : [{ name: row.env, text, isSecret: row.isSecret || hasPassword(text) }]
  })
  const plain = found.filter(({ isSecret }) => !isSecret).map(({ name, text }) => [name, text])
  return {
    plain: Object.fromEntries(plain),
    secret: found.filter(({ isSecret }) => isSecret).map(({ name }) => name),
  }
}

/** True for text with an address that names a user or carries a password. */
const hasPassword = (text: string): boolean => /:\/\/[^/\s?#]*@/.test(text)

function heapOf(text: string | undefined): number {
  const heapMb = Number(text ?? defaultHeapMb)
  if (Number.isInteger(heapMb) && heapMb >= 128) return heapMb
  throw misuse('install-service', `--heap-mb is a whole number from 128: ${text}`)
}

function requireSystemd(env: NodeJS.ProcessEnv): void {
  const runtime = env.XDG_RUNTIME_DIR
  const isThere =
    process.platform === 'linux' && runtime !== undefined && existsSync(join(runtime, 'systemd'))
  if (isThere) return
  throw new CausewayError('NO_SERVICE_MANAGER', 'no systemd runs services of this user here', {
    remedy: `let the service manager of this system run: ${[process.execPath, ...nodeArgs, program].join(' ')} serve; or write the unit for another machine by --print`,
  })
}

function systemctl(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr, error } = spawnSync('systemctl', ['--user', ...args], { env, encoding: 'utf8' })
  if (status === 0) return
  throw new CausewayError(
    'NO_SERVICE_MANAGER',
    `systemctl --user ${args.join(' ')} failed: ${(error?.message ?? stderr).trim()}`,
    { remedy: 'the unit is written; switch it on by hand' },
  )
}
