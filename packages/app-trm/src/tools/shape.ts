/** Arguments, names and answers that several tools share. */
import type { ToolContext } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type Critic, sessionOf } from '../critic.ts'
import { type EvalResult, toldResult } from '../domain/result.ts'
import type { SessionRow } from '../rows.ts'

/** What one client has: the session that it started last. */
export interface TrmSession {
  sid?: string
}

/** The context of a call. */
export type TrmContext = ToolContext<Critic, TrmSession>

/** `sid`, without which the client's own last session is meant. */
export const sidArgument = {
  sid: z
    .string()
    .optional()
    .describe('sessionId of trm.start; default: the last one that this client started'),
}

/** Other names of `sid`, and of what a tool adds. */
export const named = (tool: string, args: Readonly<Record<string, string>> = {}) => ({
  bare: [`trm.${tool}`],
  args: { session_id: 'sid', sessionId: 'sid', ...args },
})

/** `wait`, in seconds. */
export const waitArgument = (seconds: number) => ({
  wait: z
    .number()
    .min(0)
    .max(300)
    .default(seconds)
    .describe('s until it answers status running; then poll state'),
})

/** Checks a value by a schema that is not listed: to list it would cost a model too much. */
export const checkedBy =
  (schema: z.ZodType): z.core.CheckFn<unknown> =>
  ({ value, issues }) => {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
    for (const issue of schema.safeParse(value).error?.issues ?? []) {
      const names = issue.path.length === 0 ? { known } : {}
      issues.push({ ...issue, ...names, input: value } as z.core.$ZodRawIssue) // found by zod itself
    }
  }

/** Anything that a schema takes, described in words. */
export const described = (schema: z.ZodType, what: string) =>
  z.unknown().check(checkedBy(schema.optional())).optional().describe(what)

/** Writes files, and runs commands that may do anything. */
export const acting = { destructive: true, openWorld: true }

/** Changes nothing. */
export const reading = { readOnly: true }

/** A list of anything. */
export const anyList = () => z.array(z.unknown())

/** An example session, for tools that need one: without commands, since examples are run in tests. */
export const started = { tool: 'start', args: { repo: 'sums', preflight: false } }

/** A candidate that repairs the example project. */
export const repair = {
  mode: 'files',
  files: [
    {
      path: 'sums.py',
      content:
        'def total(values):\n    return sum(values)\n\n\ndef mean(values):\n    return total(values) / len(values)\n',
    },
  ],
}

/** The example session after its candidate. */
export const submitted = {
  tool: 'submit',
  args: { candidate: repair, reason: 'divide by the count', wait: 60 },
}

/** The session that a call means; throws `SESSION_NOT_FOUND`. */
export function sessionFor(ctx: TrmContext, sid: string | undefined): Promise<SessionRow> {
  // A session of a client that others share is not theirs to find by chance.
  return sessionOf(ctx.store, sid ?? (ctx.sharedSession ? undefined : ctx.session.sid))
}

/** Names a call of a tool for the table of answers. */
export const requestKey = (tool: string, { requestId }: TrmContext): string => `${tool} ${requestId}`

/** The answer that a repeat of this call gets, or what the work gives. */
export async function once<Answer>(
  ctx: TrmContext,
  tool: string,
  work: (request: string) => Promise<Answer>,
): Promise<Answer> {
  const request = requestKey(tool, ctx)
  const earlier = await ctx.store.store.answered(request)
  return earlier === undefined ? work(request) : (earlier as Answer)
}

/** The members of an evaluation's answer. */
export const evaluationOutput = {
  sessionId: z.string(),
  status: z.string(),
  step: z.int(),
  score: z.number().nullable(),
  emaScore: z.number().nullable(),
  bestScore: z.number().nullable(),
  tests: z.unknown(),
  shouldHalt: z.boolean(),
  reasons: z.array(z.string()),
  feedback: z.array(z.string()),
  summary: z.string(),
}

/** The answer of an evaluation that is over. */
export const evaluationAnswer = (sessionId: string, result: EvalResult) => ({
  sessionId,
  status: 'done',
  ...toldResult(result),
})

/** The answer while it goes on. */
export function runningAnswer(
  { id, standing }: SessionRow,
  {
    step,
    stage,
    done,
    total,
  }: { readonly step: number; readonly stage: string; readonly done: number; readonly total: number },
) {
  return {
    sessionId: id,
    status: 'running',
    step,
    stage,
    stagesDone: done,
    stages: total,
    score: null,
    emaScore: standing.ema,
    bestScore: standing.best_score,
    tests: null,
    shouldHalt: false,
    reasons: [],
    feedback: [],
    summary: `Step ${step} is being evaluated (${stage}, ${done} of ${total} commands done). Call trm.state with wait.`,
  }
}

/** Reports progress in steps that only grow, as clients want it. */
export function progressOf(
  ctx: TrmContext,
): (progress: { stage: string; done: number; total: number }) => void {
  let last = -1
  return ({ stage, done, total }) => {
    const at = stage === 'waiting' ? 0 : done + 0.5
    const told = Math.max(at, last + 0.001)
    last = told
    ctx.progress(Math.min(told, total + 0.9), total + 1, stage)
  }
}

/** Throws `TRM_OFF` where no project may be touched. */
export function refuseOff({ roots }: Critic): void {
  if (roots.folders().length === 0)
    throw new CausewayError('TRM_OFF', 'no folder is configured in which Trm may run commands')
}
