/** Severities of the states of sessions and steps. Other states have no severity. */
export const sessionSeverities: Readonly<Record<string, 'ok' | 'warn' | 'err'>> = {
  done: 'ok',
  running: 'warn',
  failed: 'err',
  active: 'ok',
}

/** Returns the sessions among the app's resources, with the folder names of their projects. */
export const listSessions = (
  resources: readonly { readonly uri: string; readonly name: string }[],
): { readonly id: string; readonly project: string }[] =>
  resources.flatMap(({ uri, name }) => {
    const [, id] = /^trm:\/\/sessions\/([^/]+)$/.exec(uri) ?? []
    if (id === undefined) return []
    return [{ id, project: name.replace(` ${id}`, '').split(/[\\/]/).at(-1) ?? '' }]
  })

export interface TrmSession {
  readonly sessionId: string
  readonly status: string
  readonly config: {
    readonly repoPath: string
    readonly halt: { readonly max: number; readonly threshold: number; readonly patience: number }
    readonly ema: number
  }
  readonly standing: {
    readonly step: number
    readonly ema: number | null
    readonly best_score: number
    readonly best_step: number | null
    readonly streak: number
  }
  readonly last: TrmResult | null
  readonly steps: readonly TrmStep[]
}

/** A step of a session. After an undo, the next step gets the same number. */
export interface TrmStep {
  readonly step: number
  readonly kind: string
  readonly status: string
  readonly undone: boolean
  readonly reason: string | null
  readonly score: number | null
  readonly filesChanged: readonly string[]
  readonly commands: readonly {
    readonly stage: string
    readonly exitCode: number | null
    readonly ms: number
  }[]
}

export type TestOutcome = 'pass' | 'fail' | 'skip' | 'missing' | 'unknown'

/** The result of `/sessions/<id>/tests`. */
export interface TestMatrix {
  readonly tests: readonly {
    readonly id: string
    /** One outcome for each evaluation. */
    readonly outcomes: readonly TestOutcome[]
  }[]
  readonly count: number
}

export interface TrmResult {
  readonly step: number
  readonly score: number
  readonly tests: { readonly passed: number; readonly failed: number; readonly total: number } | null
  readonly signals: readonly TrmSignal[]
  readonly failures: readonly { readonly id: string; readonly status: string; readonly message: string }[]
  readonly warnings: readonly string[]
  readonly tamper: readonly { readonly path: string; readonly why: string }[]
  readonly guard: {
    readonly score: number
    readonly passes: boolean
    readonly confirms: boolean
    readonly why: readonly string[]
    readonly suspicions: readonly string[]
  } | null
  readonly missing: readonly string[]
  readonly reasons: readonly string[]
  readonly feedback: readonly string[]
}

/** A signal of the score. The contributions sum to the score. */
export interface TrmSignal {
  readonly name: string
  readonly ok: boolean
  readonly weight: number
  readonly value: number
  readonly contribution: number
  readonly why: string
}

export interface ScorePoint {
  readonly index: number
  readonly step: number
  readonly score: number
  /** Moving average of the scores; `null` for the baseline and for steps that were undone. */
  readonly average: number | null
  readonly isUndone: boolean
  readonly isBest: boolean
}

/** The best step is the one numbered `best_step` that was not undone. */
export function listScores({ steps, standing, config }: TrmSession): ScorePoint[] {
  let average: number | null = null
  return steps.flatMap(({ step, kind, score, undone }, index) => {
    if (score === null) return []
    if (!undone && kind !== 'baseline')
      average = average === null ? score : config.ema * score + (1 - config.ema) * average
    return [
      {
        index,
        step,
        score,
        average: undone || kind === 'baseline' ? null : average,
        isUndone: undone,
        isBest: !undone && step === standing.best_step,
      },
    ]
  })
}
