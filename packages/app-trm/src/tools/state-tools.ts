/** Where a session stands, and its end. */

import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { awaitStep } from '../await-step.ts'
import { type Critic, lastResult, liveSteps } from '../critic.ts'
import { landDesk } from '../desk.ts'
import { counted } from '../domain/counted.ts'
import { undecided } from '../domain/halting.ts'
import { type EvalResult, resultSummary, toldResult } from '../domain/result.ts'
import { endSession } from '../end-session.ts'
import { filesOfBest } from '../going-back.ts'
import type { SessionRow, StepRow } from '../rows.ts'
import {
  acting,
  anyList,
  named,
  once,
  progressOf,
  reading,
  sessionFor,
  sidArgument,
  started,
  submitted,
  type TrmContext,
  type TrmSession,
} from './shape.ts'

/** Declares trm.state, trm.halt and trm.end. */
export function stateTools(app: Registrar<Critic, TrmSession>): void {
  app.tool('state', {
    about:
      'Where a session stands: scores, last evaluation, what was tried. With wait it answers when a running evaluation is over.',
    hints: reading,
    aliases: named('state'),
    input: {
      ...sidArgument,
      wait: z.number().min(0).max(300).default(0).describe('s to wait for a running evaluation'),
    },
    output: {
      sessionId: z.string(),
      status: z.string(),
      step: z.int(),
      emaScore: z.number(),
      bestScore: z.number(),
      noImproveStreak: z.int(),
      last: z.unknown(),
      zNotes: z.string(),
      running: z.unknown(),
      history: anyList(),
      summary: z.string(),
    },
    example: { before: [started, submitted], args: {} },
    async run({ sid, wait }, ctx) {
      const { id } = await sessionFor(ctx, sid)
      await waited(ctx, id, wait)
      return stateOf(ctx.store, await sessionFor(ctx, id))
    },
  })

  app.tool('halt', {
    about: 'Whether to stop now, and why: success, plateau or limit, as the last evaluation decided.',
    hints: reading,
    aliases: named('halt'),
    input: sidArgument,
    output: {
      shouldHalt: z.boolean(),
      rule: z.string().nullable(),
      reasons: z.array(z.string()),
      summary: z.string(),
    },
    example: { before: [started, submitted], args: {} },
    async run({ sid }, ctx) {
      const { id } = await sessionFor(ctx, sid)
      const last = liveSteps(await ctx.store.store.steps(id)).at(-1)?.result
      const { shouldHalt, rule, reasons } = last ?? undecided
      return { shouldHalt, rule, reasons, summary: shouldHalt ? `Stop: ${reasons[0]}.` : 'Go on.' }
    },
  })

  app.tool('end', {
    about:
      'Ends a session; a running evaluation is cancelled. The files stay as they are, or become those of the best step.',
    hints: acting,
    aliases: named('end'),
    input: {
      ...sidArgument,
      apply: z
        .enum(['keep', 'best', 'last'])
        .default('keep')
        .describe('which files to leave behind; under write end: keep lands none'),
      force: z.boolean().default(false).describe('overwrite files that were edited meanwhile'),
    },
    output: { ok: z.boolean(), message: z.string(), summary: z.string() },
    example: { before: [started, submitted], args: { apply: 'best' } },
    run: ({ sid, apply, force }, ctx) =>
      once(ctx, 'end', async (request) => {
        const { id } = await sessionFor(ctx, sid)
        await stopped(ctx.store, id)
        const session = await sessionFor(ctx, id)
        const restored = await leftBehind(ctx.store, session, { apply, force })
        const { step, best_score, best_step } = session.standing
        const answer = {
          ok: true,
          message: 'Session ended',
          filesRestored: restored,
          summary: `Ended after ${counted(step, 'step')}; best score ${round(best_score)}${best_step === null ? '' : ` at step ${best_step}`}.${restored.length === 0 ? '' : ` Written: ${restored.join(', ')}.`}`,
        }
        await endSession(ctx.store, session, { request, answer })
        return answer
      }),
  })
}

const round = (score: number): number => Math.round(score * 1e4) / 1e4

/** Leaves the wanted files behind; gives the paths that were written in the user's project. */
async function leftBehind(
  critic: Critic,
  session: SessionRow,
  { apply, force }: { readonly apply: 'keep' | 'best' | 'last'; readonly force: boolean },
): Promise<readonly string[]> {
  if (apply === 'keep') return []
  const restored = apply === 'best' ? await filesOfBest(critic, session, force) : []
  return session.config.write === 'end' ? landDesk(critic, session, force) : restored
}

/** Waits for a running evaluation without having a part in it. */
async function waited(ctx: TrmContext, id: string, waitS: number): Promise<void> {
  const running = ctx.store.running.get(id)
  if (running === undefined || waitS === 0) return
  const options = { waitS, signal: ctx.signal, onProgress: progressOf(ctx), cancels: false }
  try {
    await awaitStep(running, options)
  } catch (error) {
    // How it failed is told to its own caller and stands in the state.
    if (ctx.signal.aborted) throw error
  }
}

async function stopped({ running }: Critic, id: string): Promise<void> {
  const current = running.get(id)
  if (current === undefined) return
  current.controller.abort()
  await current.done.catch(() => {}) // told to whoever submitted it
}

async function stateOf({ store, running, now }: Critic, session: SessionRow) {
  const { id, standing, config } = session
  const steps = await store.steps(id)
  const last = lastResult(steps) ?? null
  const current = running.get(id)
  const newest = steps.at(-1)
  const interrupted =
    newest !== undefined && ['interrupted', 'cancelled', 'failed'].includes(newest.status)
      ? newest
      : undefined
  const status = current !== undefined ? 'running' : (interrupted?.status ?? session.status)
  return {
    sessionId: id,
    status,
    step: standing.step,
    emaScore: standing.ema ?? last?.score ?? 0,
    bestScore: standing.best_score,
    bestStep: standing.best_step,
    noImproveStreak: standing.streak,
    last: last && toldResult(last),
    zNotes: standing.notes,
    running:
      current === undefined
        ? null
        : {
            step: current.step.number,
            stage: current.progress.stage,
            stagesDone: current.progress.done,
            stages: current.progress.total,
            seconds: Math.max(0, Math.round((now() - current.step.started_ms) / 1000)),
          },
    ...(interrupted === undefined
      ? {}
      : { interrupted: { step: interrupted.number, status: interrupted.status, stage: interrupted.stage } }),
    stepsLeft: Math.max(0, config.halt.max - standing.step),
    history: history(steps),
    outputs:
      last === null
        ? []
        : last.stages.map(({ stage }) => `trm://sessions/${id}/steps/${last.step}/output/${stage}`),
    summary: stateSummary({ status, standing, last, current: current?.step }),
  }
}

/** What was tried last, and what it brought: the last five, those that were taken back too. */
function history(steps: readonly StepRow[]) {
  const told = steps.filter(({ kind }) => kind !== 'baseline').slice(-5)
  return told.map(({ number, reason, result, status, undone_ms, standing_before }) => ({
    step: number,
    status: undone_ms !== null && status === 'done' ? 'undone' : status,
    reason,
    score: result?.score ?? null,
    delta:
      result === null || standing_before.best_step === null
        ? null
        : round(result.score - standing_before.best_score),
    filesChanged: result?.filesChanged ?? [],
  }))
}

function stateSummary({
  status,
  standing,
  last,
  current,
}: {
  readonly status: string
  readonly standing: SessionRow['standing']
  readonly last: EvalResult | null
  readonly current: StepRow | undefined
}): string {
  if (current !== undefined) return `Step ${current.number} is being evaluated.`
  const scores = `step ${standing.step}, best ${round(standing.best_score)}, streak ${standing.streak}`
  if (status === 'interrupted')
    return `Interrupted: the candidate was taken back. Now ${scores}. Submit it again.`
  if (status === 'cancelled') return `Cancelled: the candidate was taken back. Now ${scores}.`
  return last === null
    ? `Nothing was evaluated yet (${status}).`
    : `${status}: ${scores}. ${resultSummary(last)}`
}
