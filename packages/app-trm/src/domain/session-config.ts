import { z } from 'zod'
import { findForbiddenName } from './command/environment.ts'
import { defaultWeights, type SignalKind, type SignalSpec } from './evaluation/signal.ts'

const fraction = z.number().min(0).max(1)
const weight = z.number().min(0).max(1000).optional()
const command = z.string().min(1).optional()
const pathsSchema = z
  .array(z.string().regex(/^(?!\/)(?!.*\.\.)/))
  .max(20)
  .default([])

export const weightsSchema = z.strictObject({
  dataQual: weight,
  test: weight,
  lint: weight,
  perf: weight,
  build: weight,
  /** Accepted without effect, like `graded`, `pattern` and `unit`. */
  coverage: weight,
})

/** Defaults of the original design, section "Halting". */
export const haltSchema = z.strictObject({
  max: z.int().min(1).max(200).default(12),
  threshold: fraction.default(0.95),
  patience: z.int().min(1).default(3),
  min: z.int().min(1).default(1),
})

const env = z.record(z.string(), z.string()).check(({ value, issues }) => {
  const name = findForbiddenName(value)
  if (name === undefined) return
  issues.push({ code: 'custom', path: [name], message: 'must not be set for commands', input: value })
})

const noise = fraction.default(0.02)

export const optionsSchema = z
  .strictObject({
    /** When a candidate's files are written to the user's project. */
    write: z.enum(['each', 'improved', 'end']).default('each'),
    /** Whether commands run in a work copy of the project. */
    isolate: z.boolean().default(true),
    link: pathsSchema,
    copy: pathsSchema,
    env: env.default({}),
    perf: z
      .strictObject({
        goal: z.enum(['min', 'max']).default('min'),
        repeat: z.int().min(1).max(5).default(1),
        noise,
        pattern: z.unknown().optional(),
        unit: z.unknown().optional(),
      })
      .prefault({}),
    allowTestRemoval: z.boolean().default(false),
    /** Whether a failed check, test or linter skips the remaining commands. */
    failFast: z.boolean().default(false),
    graded: z.boolean().optional(),
    protect: z.union([z.literal('compare'), z.array(z.string().min(1).max(200)).max(50)]).default('compare'),
    sandbox: z.enum(['none', 'auto', 'bwrap']).default('none'),
  })
  .refine(({ write, isolate }) => write !== 'improved' || isolate, {
    path: ['write'],
    message: 'improved requires isolate',
  })

const standardNames = [...Object.keys(defaultWeights), 'coverage']

const signalsSchema = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[A-Za-z][\w-]{0,39}$/),
      command: z.string().min(1),
      weight: z.number().min(0).max(1000),
    }),
  )
  .max(10)
  .check(({ value, issues }) => {
    const names = [...standardNames, ...value.map(({ name }) => name)]
    const repeatedName = names.find((name, index) => names.indexOf(name) !== index)
    if (repeatedName === undefined) return
    const message = 'is a name that is already used'
    issues.push({ code: 'custom', path: [repeatedName], message, input: value })
  })

/** The arguments with their nested members, which the listed schema describes only as text. */
export const requestSchema = z.strictObject({
  build: command,
  dataQual: command,
  test: command,
  lint: command,
  bench: command,
  signals: signalsSchema.default([]),
  weights: weightsSchema.default({}),
  halt: haltSchema.prefault({}),
  timeout: z.number().max(3600).default(120),
  ema: z.number().default(0.9),
  options: optionsSchema.prefault({}),
})

export type SessionRequest = z.output<typeof requestSchema>
type Options = Omit<SessionRequest['options'], 'graded' | 'perf'>

export interface SessionConfig extends Options {
  readonly perf: Pick<SessionRequest['options']['perf'], 'goal' | 'repeat' | 'noise'>
  /** Folder that the session reads and writes: the project or the workspace. */
  readonly repo: string
  readonly project: string
  readonly signals: readonly SignalSpec[]
  readonly halt: SessionRequest['halt']
  /** Weight of the newest score in the moving average, 0 to 1. */
  readonly ema: number
  readonly timeoutS: number
  readonly sandbox: 'none' | 'bwrap'
}

/** Adds members that configurations of earlier versions lack, and deletes members of removed options. */
export function upgradeConfig(
  storedConfig: SessionConfig & { readonly graded?: unknown; readonly coverageWeight?: unknown },
): SessionConfig {
  const { graded: _, coverageWeight: __, ...config } = storedConfig
  return {
    ...{ copy: [], failFast: false, protect: [], sandbox: 'none' },
    ...config,
    project: config.project ?? config.repo,
    perf: { ...config.perf, noise: config.perf.noise ?? noise.parse(undefined) },
  }
}

/** Folders that tools create and candidates do not change. */
const linkedFolders = ['node_modules', '.venv', 'venv', '.tox']

const standardSignals: readonly (readonly [name: string, kind: SignalKind, 'bench'?])[] = [
  ['build', 'check'],
  ['dataQual', 'check'],
  ['test', 'test'],
  ['lint', 'lint'],
  ['perf', 'perf', 'bench'],
]

export function createConfig(
  repo: string,
  request: SessionRequest,
  sandbox: SessionConfig['sandbox'],
): SessionConfig {
  const { halt, ema, timeout } = request
  const { graded: _, perf, ...options } = request.options
  const weights: Readonly<Record<string, number | undefined>> = request.weights
  const commands: Readonly<Record<string, unknown>> = request
  const specs = standardSignals.flatMap(([name, kind, argument = name]): SignalSpec[] => {
    const command = commands[argument]
    const weight = weights[name] ?? defaultWeights[name] ?? 0
    return typeof command === 'string' ? [{ name, kind, command: command, weight: weight }] : []
  })
  return {
    ...options,
    perf: { goal: perf.goal, repeat: perf.repeat, noise: perf.noise },
    repo,
    project: repo,
    signals: [...specs, ...request.signals.map((signal): SignalSpec => ({ ...signal, kind: 'check' }))],
    halt,
    ema,
    timeoutS: timeout,
    link: [...new Set([...linkedFolders, ...options.link])].filter((path) => !options.copy.includes(path)),
    copy: [...new Set(options.copy)],
    sandbox,
  }
}

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

/** Returns the arguments of a request that no longer have an effect. */
export const listRemovedArguments = ({ options, weights }: SessionRequest): readonly string[] => [
  ...(options.graded === undefined ? [] : ['options.graded']),
  ...(options.perf.pattern === undefined ? [] : ['options.perf.pattern']),
  ...(options.perf.unit === undefined ? [] : ['options.perf.unit']),
  ...(weights.coverage === undefined ? [] : ['weights.coverage']),
]
