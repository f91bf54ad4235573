/** Reading the settings: flag, environment, `--env-file`, `causeway.config.json`, default, in this order. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { closest } from '@causeway/app-kit'
import { CausewayError, isObject } from '@causeway/protocol'
import { type OwnFlag, readCommandLine } from './command-line.ts'
import { type Config, defaultDataDir, type SettingKey, settings } from './config.ts'

/** Where the settings are read from. */
export interface ConfigSources {
  /** Arguments without node and script. */
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** Flags that are no settings, and are left to the command. */
  readonly own?: Readonly<Record<string, OwnFlag>>
}

/** What the command line asks for. */
export interface Invocation {
  readonly config: Config
  /** The words that are not flags: `[]`, `['tools']`, `['roots', 'add', '/data']`. */
  readonly words: readonly string[]
  readonly help: boolean
  readonly version: boolean
}

type Raw = Partial<Record<SettingKey, unknown>>

const keys = Object.keys(settings) as SettingKey[]
const configFile = 'causeway.config.json'

/** Reads and checks every source; throws `INVALID_SETTING` that names the source, the setting and what to do. */
export function readConfig({ argv, env, cwd, own }: ConfigSources): Invocation {
  const { settings: flags, envFile, words, help, version } = readCommandLine(argv, own)
  const raw: Raw = {
    ...readConfigFile(resolve(cwd, configFile)),
    ...(envFile === undefined ? {} : readEnvFile(resolve(cwd, envFile))),
    ...readEnvironment(env),
    ...flags,
  }
  return { config: check(raw, { env, cwd }), words, help, version }
}

function check(raw: Raw, { env, cwd }: Pick<ConfigSources, 'env' | 'cwd'>): Config {
  const values = Object.fromEntries(
    keys.map((key) => {
      const parsed = settings[key].schema.safeParse(raw[key])
      if (parsed.success) return [key, parsed.data]
      const why = parsed.error.issues.map(({ message }) => message.replace(/^Invalid input: /, '')).join(', ')
      throw invalid(`${settings[key].env} (${key}): ${why}: ${String(raw[key])}`)
    }),
  ) as unknown as Config
  return {
    ...values,
    dataDir: resolve(cwd, values.dataDir ?? defaultDataDir(env)),
    ...(values.backupDir === undefined ? {} : { backupDir: resolve(cwd, values.backupDir) }),
    ...(values.tokenFile === undefined ? {} : { tokenFile: resolve(cwd, values.tokenFile) }),
    roots: values.roots.length > 0 ? values.roots.map((root) => resolve(cwd, root)) : [cwd],
    recordingRoots: values.recordingRoots.map((root) => resolve(cwd, root)),
    plotRoots: values.plotRoots.map((root) => resolve(cwd, root)),
  }
}

const byEnv = new Map(keys.map((key) => [settings[key].env, key]))

/** A variable that resembles one of ours is a mistake; any other is none of our business. */
function readEnvironment(env: NodeJS.ProcessEnv): Raw {
  const raw: Raw = {}
  for (const [name, value] of Object.entries(env)) {
    const key = byEnv.get(name)
    if (key !== undefined && value !== undefined) raw[key] = value
    const meant = key === undefined ? meantVariable(name) : undefined
    if (meant !== undefined) throw unknown('environment variable', name, [meant])
  }
  return raw
}

/** Compared without the prefix that they share, which would make every name resemble every other. */
function meantVariable(name: string): string | undefined {
  const prefix = /^(CAUSEWAY|MCP_SERVER|MCP_TOOLS)_/.exec(name)?.[0]
  if (prefix === undefined) return undefined
  const rest = [...byEnv.keys()]
    .filter((env) => env.startsWith(prefix))
    .map((env) => env.slice(prefix.length))
  const meant = closest(name.slice(prefix.length), rest)
  return meant === undefined ? undefined : prefix + meant
}

/** Lines of KEY=value. Every key must be ours. */
function readEnvFile(file: string): Raw {
  const raw: Raw = {}
  for (const [name, value] of Object.entries(parseEnv(readText(file)))) {
    const key = byEnv.get(name)
    if (key === undefined) throw unknown(`setting in ${file}`, name, [...byEnv.keys()])
    raw[key] = value
  }
  return raw
}

function readConfigFile(file: string): Raw {
  const text = readText(file, { optional: true })
  if (text === '') return {}
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw invalid(`not JSON: ${file}`, cause)
  }
  if (!isObject(json)) throw invalid(`not a JSON object: ${file}`)
  for (const name of Object.keys(json))
    if (!Object.hasOwn(settings, name)) throw unknown(`setting in ${file}`, name, keys)
  return json as Raw
}

function readText(file: string, { optional = false } = {}): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (optional && (cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw invalid(`cannot read ${file}`, cause)
  }
}

const invalid = (message: string, cause?: unknown): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { cause })

function unknown(what: string, name: string, candidates: readonly string[]): CausewayError {
  const meant = closest(name, candidates)
  return invalid(`unknown ${what}: ${name}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`)
}
