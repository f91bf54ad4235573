import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { closest } from '@causeway/app-kit'
import { CausewayError, findDataFolder, getMachine, isObject } from '@causeway/protocol'
import type { z } from 'zod'
import { type CommandLine, describeUnknown } from './command-line.ts'
import { type Config, type SettingKey, settings, toFlag } from './config.ts'
import type { Setting } from './settings/setting.ts'

interface ConfigSources extends Partial<Pick<CommandLine, 'settings' | 'envFile'>> {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

export interface Invocation {
  readonly config: Config
  /** Only settings that were given; the others have their defaults. */
  readonly explicitSettings: ExplicitSettings
}

interface ExplicitSetting {
  /** Not yet validated. */
  readonly value: unknown
  /** `--port`, `MCP_SERVER_PORT`, `MCP_SERVER_PORT in <file>` or `port in <file>`. */
  readonly source: string
}

type ExplicitSettings = Readonly<Partial<Record<SettingKey, ExplicitSetting>>>
type ExplicitEntry = readonly [SettingKey, ExplicitSetting]

const keys = Object.keys(settings) as SettingKey[]
const keysByVariable = new Map(keys.map((key) => [settings[key].env, key]))

/**
 * Reads settings from flags, environment, `--env-file` and `causeway.config.json`, in order of precedence.
 * Throws `INVALID_SETTING`.
 */
export function readConfig({ settings: flags = {}, envFile, env, cwd }: ConfigSources): Invocation {
  const explicitSettings: ExplicitSettings = Object.fromEntries([
    ...readConfigFile(resolve(cwd, 'causeway.config.json')),
    ...(envFile === undefined ? [] : readEnvFile(resolve(cwd, envFile))),
    ...readEnvironment(env),
    ...readFlags(flags),
  ])
  return { config: validate(explicitSettings, { env, cwd }), explicitSettings }
}

function validate(
  explicitSettings: ExplicitSettings,
  { env, cwd }: Pick<ConfigSources, 'env' | 'cwd'>,
): Config {
  const values = Object.fromEntries(
    keys.map((key) => {
      const { value, source = settings[key].env } = explicitSettings[key] ?? {}
      const parsed = settings[key].schema.safeParse(value)
      if (parsed.success) return [key, parsed.data]
      const reasons = new Set(parsed.error.issues.map(describeIssue))
      const { isSecret }: Setting = settings[key]
      const gotText = isSecret ? '' : `, got ${JSON.stringify(value)}`
      throw createInvalidError(`${source} ${[...reasons].join(' and ')}${gotText}`)
    }),
  ) as unknown as Config
  return {
    ...values,
    dataDir: resolve(cwd, values.dataDir ?? findDataFolder(getMachine(env))),
    ...(values.backupDir === undefined ? {} : { backupDir: resolve(cwd, values.backupDir) }),
    ...(values.tokenFile === undefined ? {} : { tokenFile: resolve(cwd, values.tokenFile) }),
    roots: values.roots.length > 0 ? values.roots.map((root) => resolve(cwd, root)) : [cwd],
    recordingRoots: values.recordingRoots.map((root) => resolve(cwd, root)),
    plotRoots: values.plotRoots.map((root) => resolve(cwd, root)),
  }
}

const readFlags = (flags: Partial<Record<SettingKey, string>>): readonly ExplicitEntry[] =>
  (Object.keys(flags) as SettingKey[]).map((key) => [key, { value: flags[key], source: `--${toFlag(key)}` }])

const readEnvironment = (env: NodeJS.ProcessEnv): readonly ExplicitEntry[] =>
  Object.entries(env).flatMap(([name, value]): readonly ExplicitEntry[] => {
    const key = keysByVariable.get(name)
    if (key !== undefined) return value === undefined ? [] : [[key, { value, source: name }]]
    const similarVariable = findSimilarVariable(name)
    if (similarVariable !== undefined)
      throw createUnknownNameError('environment variable', name, [similarVariable])
    return []
  })

/** Compares names without their prefix, which would make all names similar. */
function findSimilarVariable(name: string): string | undefined {
  const prefix = /^(CAUSEWAY|MCP_SERVER|MCP_TOOLS)_/.exec(name)?.[0]
  if (prefix === undefined) return undefined
  const candidates = [...keysByVariable.keys()]
    .filter((variable) => variable.startsWith(prefix))
    .map((variable) => variable.slice(prefix.length))
  const similarVariable = closest(name.slice(prefix.length), candidates)
  return similarVariable === undefined ? undefined : prefix + similarVariable
}

const readEnvFile = (file: string): readonly ExplicitEntry[] =>
  Object.entries(parseEnv(readText(file))).map(([name, value]) => {
    const key = keysByVariable.get(name)
    if (key === undefined)
      throw createUnknownNameError(`setting in ${file}`, name, [...keysByVariable.keys()])
    return [key, { value, source: `${name} in ${file}` }]
  })

function readConfigFile(file: string): readonly ExplicitEntry[] {
  const text = readText(file, { optional: true })
  if (text === '') return []
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw createInvalidError(`not JSON: ${file}`, cause)
  }
  if (!isObject(json)) throw createInvalidError(`not a JSON object: ${file}`)
  return Object.entries(json).map(([name, value]) => {
    if (!Object.hasOwn(settings, name)) throw createUnknownNameError(`setting in ${file}`, name, keys)
    return [name as SettingKey, { value, source: `${name} in ${file}` }]
  })
}

function readText(file: string, { optional = false } = {}): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (optional && (cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw createInvalidError(`cannot read ${file}`, cause)
  }
}

const createInvalidError = (message: string, cause?: unknown): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { cause, remedy: 'see causeway serve --help' })

const createUnknownNameError = (kind: string, name: string, candidates: readonly string[]): CausewayError =>
  createInvalidError(describeUnknown(kind, name, candidates))

const describeIssue = ({ code, message }: z.core.$ZodIssue): string =>
  code === 'custom' ? `is invalid (${message})` : message
