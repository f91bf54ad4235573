import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { noDecision } from '../domain/evaluation/halting.ts'
import { type EvalResult, formatResult, summarizeResult } from '../domain/evaluation/result.ts'
import { readAverage, roundScore, type Standing } from '../domain/evaluation/score.ts'
import { formatCount } from '../domain/format.ts'
import type { Critic } from '../session/critic.ts'
import { endSession } from '../session/end-session.ts'
import { restoreBestFiles } from '../session/history.ts'
import type { RunningStep } from '../session/running-step.ts'
import { findLastResult, listLiveSteps, type SessionRow, type StepRow } from '../store/rows.ts'
import { landWorkspace } from '../workspace/workspace.ts'
import {
  type ClientState,
  createAliases,
  createProgressListener,
  createUnknownListSchema,
  detailsArgument,
  exampleStart,
  exampleSubmit,
  findSession,
  readHints,
  runOnce,
  sidArgument,
  type TrmContext,
  writeHints,
} from './tool-context.ts'

export function declareStateTool(app: Registrar<Critic, ClientState>): void {
  app.tool('state', {
    title: 'Get session state',
    about:
      'Return scores, the last evaluation, the recent steps and a running evaluation of a session. Use it with wait to get the result of a submit that returned running.',
    searchHint: 'progress, is it finished',
    hints: readHints,
    aliases: createAliases('state'),
    input: {
      ...sidArgument,
      ...detailsArgument,
      wait: z.number().min(0).max(300).default(0).describe('Seconds to wait for a running evaluation'),
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
      history: createUnknownListSchema(),
      summary: z.string(),
    },
    example: { before: [exampleStart, exampleSubmit], args: {} },
    async run({ sid, wait, details }, ctx) {
      const { id } = await findSession(ctx, sid)
      await waitForStep(ctx, id, wait)
      return describeState(ctx.store, await findSession(ctx, id), details)
    },
  })
}

export function declareHaltTool(app: Registrar<Critic, ClientState>): void {
  app.tool('halt', {
    title: 'Check halting',
    about:
      'Return whether to stop, and the rule: success, plateau or limit, as the last evaluation decided. Use it to check whether another candidate is useful; submit returns the same.',
    searchHint: 'continue or stop',
    hints: readHints,
    aliases: createAliases('halt'),
    input: sidArgument,
    output: {
      shouldHalt: z.boolean(),
      rule: z.string().nullable(),
      reasons: z.array(z.string()),
      summary: z.string(),
    },
    example: { before: [exampleStart, exampleSubmit], args: {} },
    async run({ sid }, ctx) {
      const { id } = await findSession(ctx, sid)
      const last = listLiveSteps(await ctx.store.store.listSteps(id)).at(-1)?.result
      const { shouldHalt, rule, reasons } = last ?? noDecision
      return { shouldHalt, rule, reasons, summary: shouldHalt ? `Stop: ${reasons[0]}.` : 'Continue.' }
    },
  })
}

export function declareEndTool(app: Registrar<Critic, ClientState>): void {
  app.tool('end', {
    title: 'End session',
    about:
      'End a session and cancel a running evaluation. Returns the written files: the files stay as they are, or become those of the best step. Use it when shouldHalt is true.',
    searchHint: 'finish, keep best version',
    hints: writeHints,
    aliases: createAliases('end'),
    input: {
      ...sidArgument,
      apply: z
        .enum(['keep', 'best', 'last'])
        .default('keep')
        .describe('best or last: files of that step; keep: files as they are now, even if worse'),
      force: z.boolean().default(false).describe('Overwrite files that were edited'),
    },
    output: { ok: z.boolean(), message: z.string(), summary: z.string() },
    example: { before: [exampleStart, exampleSubmit], args: { apply: 'best' } },
    run: ({ sid, apply, force }, ctx) =>
      runOnce(ctx, 'end', async (request) => {
        const { id } = await findSession(ctx, sid)
        await ctx.store.running.get(id)?.cancel()
        const session = await findSession(ctx, id)
        const filesRestored = await applyFiles(ctx.store, session, apply, force)
        const { step, best_score, best_step } = session.standing
        const bestText = best_step === null ? '' : ` at step ${best_step}`
        const writtenText = filesRestored.length === 0 ? '' : ` Written: ${filesRestored.join(', ')}.`
        const answer = {
          ok: true,
          message: 'Session ended',
          filesRestored,
          summary: `Ended after ${formatCount(step, 'step')}; best score ${roundScore(best_score)}${bestText}.${writtenText}`,
        }
        await endSession(ctx.store, session, { id: request, answer })
        return answer
      }),
  })
}

async function applyFiles(
  critic: Critic,
  session: SessionRow,
  apply: 'keep' | 'best' | 'last',
  force: boolean,
): Promise<readonly string[]> {
  if (apply === 'keep') return []
  const restoredFiles = apply === 'best' ? await restoreBestFiles(critic, session, force) : []
  return session.config.write === 'end' ? landWorkspace(critic, session, force) : restoredFiles
}

async function waitForStep(ctx: TrmContext, id: string, waitS: number): Promise<void> {
  const running = ctx.store.running.get(id)
  if (running === undefined || waitS === 0) return
  try {
    const onProgress = createProgressListener(ctx)
    await running.wait({ waitS, signal: ctx.signal, onProgress, cancelOnAbort: false })
  } catch (error) {
    // The call that submitted the candidate receives the failure.
    if (ctx.signal.aborted) throw error
  }
}

async function describeState({ store, running, now }: Critic, session: SessionRow, details: boolean) {
  const { id, standing, config } = session
  const steps = await store.listSteps(id)
  const last = findLastResult(steps) ?? null
  const runningStep = running.get(id)
  const newestStep = steps.at(-1)
  const isStopped = newestStep && ['interrupted', 'cancelled', 'failed'].includes(newestStep.status)
  const stoppedStep = isStopped ? newestStep : undefined
  const status = runningStep !== undefined ? 'running' : (stoppedStep?.status ?? session.status)
  return {
    sessionId: id,
    status,
    step: standing.step,
    emaScore: readAverage(standing),
    bestScore: standing.best_score,
    bestStep: standing.best_step,
    noImproveStreak: standing.streak,
    last: last && formatResult(last, details),
    zNotes: standing.notes,
    running: runningStep === undefined ? null : describeRunning(runningStep, now()),
    ...(stoppedStep === undefined
      ? {}
      : { interrupted: { step: stoppedStep.number, status: stoppedStep.status, stage: stoppedStep.stage } }),
    stepsLeft: Math.max(0, config.halt.max - standing.step),
    history: describeHistory(steps),
    ...(details && last !== null
      ? { outputs: last.stages.map(({ stage }) => `trm://sessions/${id}/steps/${last.step}/output/${stage}`) }
      : {}),
    summary: summarizeState(status, standing, last, runningStep?.step.number),
  }
}

const describeRunning = ({ step, progress }: RunningStep, nowMs: number) => ({
  step: step.number,
  stage: progress.stage,
  stagesDone: progress.done,
  stages: progress.total,
  seconds: Math.max(0, Math.round((nowMs - step.started_ms) / 1000)),
})

/** Includes undone candidates. */
function describeHistory(steps: readonly StepRow[]) {
  const recentSteps = steps.filter(({ kind }) => kind !== 'baseline').slice(-5)
  return recentSteps.map(({ number, reason, result, status, undone_ms, standing_before: before }) => ({
    step: number,
    status: undone_ms !== null && status === 'done' ? 'undone' : status,
    reason,
    score: result?.score ?? null,
    delta: result === null || before.best_step === null ? null : roundScore(result.score - before.best_score),
    filesChanged: result?.filesChanged ?? [],
  }))
}

function summarizeState(
  status: string,
  { step, best_score, streak }: Standing,
  last: EvalResult | null,
  running: number | undefined,
): string {
  if (running !== undefined) return `Step ${running} is being evaluated.`
  const scores = `step ${step}, best score ${roundScore(best_score)}, streak ${streak}`
  if (status === 'interrupted')
    return `Interrupted: the candidate was rolled back. Now ${scores}. Submit it again.`
  if (status === 'cancelled') return `Cancelled: the candidate was rolled back. Now ${scores}.`
  return last === null
    ? `Nothing was evaluated yet (${status}).`
    : `${status.charAt(0).toUpperCase()}${status.slice(1)}: ${scores}. ${summarizeResult(last)}`
}
