/** How a session was started: fixed for its life, shown back, and stored. */
import { CausewayError } from '@causeway/protocol'
import { refusedName } from './environment.ts'
import { defaultPolicy, type HaltPolicy } from './halting.ts'
import { defaultWeights, reservedNames, type SignalKind, type SignalSpec } from './signal.ts'
import type { Protection } from './tamper.ts'

/** When a candidate's files land in the user's project. */
export type WritePolicy = 'each' | 'improved' | 'end'

/** How a benchmark is run and read. */
export interface PerfConfig {
  readonly goal: 'min' | 'max'
  /** runs of which the median counts */
  readonly repeat: number
  readonly pattern?: string | undefined
  readonly unit?: string | undefined
  /** share of a measure below which a difference is noise, and no improvement */
  readonly noise: number
}

/** Everything that decides what an evaluation does. */
export interface SessionConfig {
  /** where the session reads and writes: the project itself, or a copy of the session's own */
  readonly repo: string
  /** real path of the user's project */
  readonly project: string
  /** in the order in which they run */
  readonly signals: readonly SignalSpec[]
  /** weight of the coverage that the tests write; 0 where it is told and not scored */
  readonly coverageWeight: number
  readonly halt: HaltPolicy
  /** share of the newest score in the moving average, 0 to 1 */
  readonly ema: number
  /** limit of each command, s */
  readonly timeoutS: number
  readonly write: WritePolicy
  /** evaluates in a copy of the project, so that commands leave nothing in the user's */
  readonly isolate: boolean
  /** ignored folders that the copy links to */
  readonly link: readonly string[]
  /** ignored folders and files of which each copy has its own */
  readonly copy: readonly string[]
  /** further environment of the commands */
  readonly env: Readonly<Record<string, string>>
  readonly perf: PerfConfig
  readonly allowTestRemoval: boolean
  /** runs nothing more of a candidate after a check, the tests or a linter failed */
  readonly failFast: boolean
  /** data checks and linters count by how much of them is good, not only by their exit */
  readonly graded: boolean
  readonly protect: Protection
  /** what confines its commands beyond limits */
  readonly sandbox: 'none' | 'bwrap'
}

/** What a caller of start gives. */
export interface SessionRequest {
  readonly build?: string | undefined
  readonly dataQual?: string | undefined
  readonly test?: string | undefined
  readonly lint?: string | undefined
  readonly bench?: string | undefined
  readonly signals?:
    | readonly { readonly name: string; readonly command: string; readonly weight: number }[]
    | undefined
  readonly weights?: { readonly [name: string]: number | undefined } | undefined
  readonly halt?: { readonly [Key in keyof HaltPolicy]?: number | undefined } | undefined
  readonly ema?: number | undefined
  readonly timeout?: number | undefined
  readonly write?: WritePolicy | undefined
  readonly isolate?: boolean | undefined
  readonly link?: readonly string[] | undefined
  readonly copy?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly perf?: { readonly [Key in keyof PerfConfig]?: PerfConfig[Key] | undefined } | undefined
  readonly allowTestRemoval?: boolean | undefined
  readonly failFast?: boolean | undefined
  readonly graded?: boolean | undefined
  readonly protect?: Protection | undefined
  /** `auto` is for the caller to settle before */
  readonly sandbox?: 'none' | 'bwrap' | undefined
}

/** Share of a measure that is noise where the caller says nothing. */
const defaultNoise = 0.02

/** What sessions of an earlier version do not say. */
const later = {
  copy: [],
  coverageWeight: 0,
  failFast: false,
  graded: false,
  protect: [],
  sandbox: 'none',
} as const

/** The configuration of a stored session. */
export const storedConfig = (config: SessionConfig): SessionConfig => ({
  ...later,
  ...config,
  project: config.project ?? config.repo,
  perf: { ...config.perf, noise: config.perf.noise ?? defaultNoise },
})

/** Folders that tools fill and that candidates do not change. */
const linked = ['node_modules', '.venv', 'venv', '.tox']

/** The configuration of a request, defaults filled in; throws `INVALID_ARGUMENTS` for what cannot be. */
export function sessionConfig(repo: string, request: SessionRequest): SessionConfig {
  const { weights = {}, halt = {}, perf = {}, env = {}, link = [], copy = [] } = request
  const bad = refusedName(env)
  if (bad !== undefined) throw invalid(`env.${bad}`, 'may not be set for commands')
  if (request.write === 'improved' && request.isolate === false)
    throw invalid('options.write', 'improved judges a candidate before it lands, which takes isolate')
  const kinds: readonly (readonly [string, SignalKind, string | undefined])[] = [
    ['build', 'check', request.build],
    ['dataQual', 'check', request.dataQual],
    ['test', 'test', request.test],
    ['lint', 'lint', request.lint],
    ['perf', 'perf', request.bench],
  ]
  const standard = kinds.flatMap(([name, kind, command]): SignalSpec[] =>
    command === undefined
      ? []
      : [{ name, kind, command, weight: weights[name] ?? defaultWeights[name] ?? 0 }],
  )
  const further = (request.signals ?? []).map((signal): SignalSpec => ({ ...signal, kind: 'check' }))
  refuseRepeated(further)
  return {
    repo,
    project: repo,
    signals: [...standard, ...further],
    coverageWeight: coverageWeightOf(request),
    halt: {
      max: halt.max ?? defaultPolicy.max,
      threshold: halt.threshold ?? defaultPolicy.threshold,
      patience: halt.patience ?? defaultPolicy.patience,
      min: halt.min ?? defaultPolicy.min,
    },
    ema: request.ema ?? 0.9,
    timeoutS: request.timeout ?? 120,
    write: request.write ?? 'each',
    isolate: request.isolate ?? true,
    link: [...new Set([...linked, ...link])].filter((path) => !copy.includes(path)),
    copy: [...new Set(copy)],
    env,
    perf: {
      goal: perf.goal ?? 'min',
      repeat: perf.repeat ?? 1,
      pattern: perf.pattern,
      unit: perf.unit,
      noise: perf.noise ?? defaultNoise,
    },
    allowTestRemoval: request.allowTestRemoval ?? false,
    failFast: request.failFast ?? false,
    graded: request.graded ?? false,
    protect: request.protect ?? 'compare',
    sandbox: request.sandbox ?? 'none',
  }
}

/** Coverage is what the tests write: without them there is none to weigh. */
function coverageWeightOf({ weights: { coverage = 0 } = {}, test }: SessionRequest): number {
  if (coverage > 0 && test === undefined)
    throw invalid('weights.coverage', 'needs a test command that writes coverage')
  return coverage
}

function refuseRepeated(signals: readonly SignalSpec[]): void {
  const names = new Set(reservedNames)
  for (const { name } of signals) {
    if (names.has(name)) throw invalid(`signals.${name}`, 'is a name that is taken')
    names.add(name)
  }
}

const invalid = (argument: string, problem: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', `start: ${argument} ${problem}`, {
    data: { problems: [{ argument, problem }] },
  })

/** The weights in force, by name. */
const weightsOf = ({ signals, coverageWeight }: SessionConfig): Readonly<Record<string, number>> => ({
  ...defaultWeights,
  ...(coverageWeight > 0 ? { coverage: coverageWeight } : {}),
  ...Object.fromEntries(signals.map(({ name, weight }) => [name, weight])),
})

/** The configuration as `trm.start` shows it: commands by signal, values of the environment left out. */
export function shownConfig(config: SessionConfig) {
  const { repo: _, coverageWeight: __, project, signals, halt, ema, timeoutS, env, ...options } = config
  return {
    repoPath: project,
    commands: Object.fromEntries(signals.map(({ name, command }) => [name, command])),
    weights: weightsOf(config),
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
