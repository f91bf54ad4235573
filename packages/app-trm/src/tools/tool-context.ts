import type { ToolContext } from '@causeway/app-kit'
import { z } from 'zod'
import { type EvalResult, formatResult } from '../domain/evaluation/result.ts'
import { readAverage } from '../domain/evaluation/score.ts'
import type { Critic } from '../session/critic.ts'
import type { Progress, RunningStep } from '../session/running-step.ts'
import type { SessionRow } from '../store/rows.ts'

export interface ClientState {
  sid?: string
}

export type TrmContext = ToolContext<Critic, ClientState>

export const sidArgument = {
  sid: z.string().optional().describe('sessionId of start; default: your last'),
}

export const waitArgument = (seconds: number) => ({
  wait: z.number().min(0).max(300).default(seconds).describe('Seconds; then poll state'),
})

export const detailsArgument = {
  details: z.boolean().default(false).describe('All fields'),
}

/** Returns the tool's name in the original design, and other names of its arguments, each also in snake_case. */
export const createAliases = (tool: string, args: Readonly<Record<string, string>> = {}) => ({
  bare: [`trm.${tool}`],
  args: Object.fromEntries(
    Object.entries({ sessionId: 'sid', ...args }).flatMap(([name, argument]) => [
      [name, argument],
      [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), argument],
    ]),
  ),
})

export const writeHints = { destructive: true, openWorld: true }

export const readHints = { readOnly: true }

export const createUnknownListSchema = () => z.array(z.unknown())

/** Validates with a schema that is not listed, because its listing would cost too many tokens. */
export const checkWith =
  (schema: z.ZodType): z.core.CheckFn<unknown> =>
  ({ value, issues }) => {
    const knownKeys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
    for (const issue of schema.safeParse(value).error?.issues ?? []) {
      const names = issue.path.length === 0 ? { known: knownKeys } : {}
      issues.push({ ...issue, ...names, input: value } as z.core.$ZodRawIssue) // zod created the issue
    }
  }

/** The example has no commands, because tests run the examples. */
export const exampleStart = { tool: 'start', args: { repo: 'sums', preflight: false } }

export const exampleCandidate = {
  mode: 'files',
  files: [
    {
      path: 'sums.py',
      content:
        'def total(values):\n    return sum(values)\n\n\ndef mean(values):\n    return total(values) / len(values)\n',
    },
  ],
}

export const exampleSubmit = {
  tool: 'submit',
  args: { candidate: exampleCandidate, reason: 'divide by the count', wait: 60 },
}

/** Returns the session of a call. Clients that share a session state must pass `sid`. Throws `SESSION_NOT_FOUND`. */
export const findSession = ({ store, session, sharedSession }: TrmContext, sid: string | undefined) =>
  store.findSession(sid ?? (sharedSession ? undefined : session.sid))

export const createRequestKey = (tool: string, { requestId }: TrmContext): string => `${tool} ${requestId}`

/** Returns the stored result of a repeated request, or the result of `work`. */
export async function runOnce<Result>(
  ctx: TrmContext,
  tool: string,
  work: (request: string) => Promise<Result>,
): Promise<Result> {
  const request = createRequestKey(tool, ctx)
  const stored = await ctx.store.store.findAnswer(request)
  return stored === undefined ? work(request) : (stored as Result)
}

/** Returns a listener that always reports more progress than before. */
export function createProgressListener(ctx: TrmContext): (progress: Progress) => void {
  let lastProgress = -1
  return ({ stage, done, total }) => {
    const progressValue = stage === 'waiting' ? 0 : done + 0.5
    lastProgress = Math.max(progressValue, lastProgress + 0.001)
    ctx.progress(Math.min(lastProgress, total + 0.9), total + 1, stage)
  }
}

/** Returns the result of an evaluation or, if it continues after `wait` seconds, its progress. */
export async function waitForResult(
  ctx: TrmContext,
  session: SessionRow,
  running: RunningStep,
  { wait, details }: { readonly wait: number; readonly details: boolean },
) {
  const onProgress = createProgressListener(ctx)
  const result = await running.wait({ waitS: wait, signal: ctx.signal, onProgress, cancelOnAbort: true })
  return result === undefined ? formatRunning(session, running) : formatDone(session, result, details)
}

export const formatDone = ({ id }: SessionRow, result: EvalResult, details: boolean) => ({
  sessionId: id,
  status: 'done',
  ...formatResult(result, details),
})

function formatRunning({ id, standing }: SessionRow, { step, progress }: RunningStep) {
  const { stage, done, total } = progress
  return {
    sessionId: id,
    status: 'running',
    step: step.number,
    stage,
    stagesDone: done,
    stages: total,
    score: null,
    emaScore: readAverage(standing),
    bestScore: standing.best_score,
    tests: null,
    shouldHalt: false,
    reasons: [],
    feedback: [],
    summary: `Step ${step.number} is being evaluated (${stage}, ${done} of ${total} commands done). Call trm.state with wait.`,
  }
}
