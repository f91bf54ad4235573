import { CausewayError } from '@causeway/protocol'
import { findForbiddenName } from './command/environment.ts'
import { defaultPolicy, type HaltPolicy } from './evaluation/halting.ts'
import { defaultWeights, type SignalKind, type SignalSpec } from './evaluation/signal.ts'
import type { Protection } from './evaluation/tamper.ts'
import type { SessionRequest } from './session-request.ts'

export interface SessionConfig {
  /** Folder that the session reads and writes: the project or the workspace. */
  readonly repo: string
  readonly project: string
  readonly signals: readonly SignalSpec[]
  readonly halt: HaltPolicy
  /** Weight of the newest score in the moving average, 0 to 1. */
  readonly ema: number
  readonly timeoutS: number
  /** When a candidate's files are written to the user's project. */
  readonly write: 'each' | 'improved' | 'end'
  /** Whether commands run in a work copy of the project. */
  readonly isolate: boolean
  readonly link: readonly string[]
  readonly copy: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly perf: {
    readonly goal: 'min' | 'max'
    readonly repeat: number
    readonly noise: number
  }
  readonly allowTestRemoval: boolean
  /** Whether a failed check, test or linter skips the remaining commands. */
  readonly failFast: boolean
  readonly protect: Protection
  readonly sandbox: 'none' | 'bwrap'
}

const defaultNoise = 0.02

/** Adds members that earlier versions lack, and removes those of removed options. */
export function upgradeConfig(
  stored: SessionConfig & { readonly graded?: unknown; readonly coverageWeight?: unknown },
): SessionConfig {
  const { graded: _, coverageWeight: __, ...config } = stored
  return {
    ...{ copy: [], failFast: false, protect: [], sandbox: 'none' },
    ...config,
    project: config.project ?? config.repo,
    perf: { ...config.perf, noise: config.perf.noise ?? defaultNoise },
  }
}

/** Folders that tools create and candidates do not change. */
const linkedFolders = ['node_modules', '.venv', 'venv', '.tox']

/** Creates a configuration with defaults. Throws `INVALID_ARGUMENTS`. */
export function createConfig(repo: string, request: SessionRequest): SessionConfig {
  const { halt = {}, perf = {}, env = {}, link = [], copy = [] } = request
  const weights: Readonly<Record<string, number | undefined>> = request.weights ?? {}
  const forbidden = findForbiddenName(env)
  if (forbidden !== undefined) throw createError(`env.${forbidden}`, 'must not be set for commands')
  if (request.write === 'improved' && request.isolate === false)
    throw createError('options.write', 'improved requires isolate')
  const standard: readonly (readonly [name: string, kind: SignalKind, command: string | undefined])[] = [
    ['build', 'check', request.build],
    ['dataQual', 'check', request.dataQual],
    ['test', 'test', request.test],
    ['lint', 'lint', request.lint],
    ['perf', 'perf', request.bench],
  ]
  const signals = standard.flatMap(([name, kind, command]): SignalSpec[] =>
    command === undefined
      ? []
      : [{ name, kind, command, weight: weights[name] ?? defaultWeights[name] ?? 0 }],
  )
  const names = new Set([...Object.keys(defaultWeights), 'coverage'])
  for (const signal of request.signals ?? []) {
    if (names.has(signal.name)) throw createError(`signals.${signal.name}`, 'is a name that is already used')
    names.add(signal.name)
    signals.push({ ...signal, kind: 'check' })
  }
  return {
    repo,
    project: repo,
    signals,
    halt: { ...defaultPolicy, ...definedMembers(halt) },
    ema: request.ema ?? 0.9,
    timeoutS: request.timeout ?? 120,
    write: request.write ?? 'each',
    isolate: request.isolate ?? true,
    link: [...new Set([...linkedFolders, ...link])].filter((path) => !copy.includes(path)),
    copy: [...new Set(copy)],
    env,
    perf: { goal: 'min', repeat: 1, noise: defaultNoise, ...definedMembers(perf) },
    allowTestRemoval: request.allowTestRemoval ?? false,
    failFast: request.failFast ?? false,
    protect: request.protect ?? 'compare',
    sandbox: request.sandbox ?? 'none',
  }
}

/** Removes `undefined` members, so that defaults apply. */
const definedMembers = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>
  }

const createError = (argument: string, problem: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', `start: ${argument} ${problem}`, {
    data: { problems: [{ argument, problem }] },
  })

/** Omits the values of environment variables. */
export function formatConfig(config: SessionConfig) {
  const { repo: _, project, signals, halt, ema, timeoutS, env, ...options } = config
  return {
    repoPath: project,
    commands: Object.fromEntries(signals.map(({ name, command }) => [name, command])),
    weights: {
      ...defaultWeights,
      ...Object.fromEntries(signals.map(({ name, weight }) => [name, weight])),
    },
    halt,
    haltPolicy: {
      maxSteps: halt.max,
      passThreshold: halt.threshold,
      patienceNoImprove: halt.patience,
      minSteps: halt.min,
    },
    ema,
    timeout: timeoutS,
    env: Object.keys(env),
    ...options,
  }
}
