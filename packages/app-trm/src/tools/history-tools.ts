/** Checkpoints, and going back. */

import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type Critic, liveSteps, refuseBusy } from '../critic.ts'
import { counted } from '../domain/counted.ts'
import { type BackRequest, reset, restore, undo, type WentBack } from '../going-back.ts'
import type { SessionRow } from '../rows.ts'
import {
  acting,
  anyList,
  named,
  once,
  reading,
  sessionFor,
  sidArgument,
  started,
  submitted,
  type TrmContext,
  type TrmSession,
} from './shape.ts'

const mostCheckpoints = 20

const forceArgument = {
  force: z.boolean().default(false).describe('overwrite files that were edited since the session wrote them'),
}

const backOutput = {
  message: z.string(),
  currentStep: z.int(),
  score: z.number(),
  emaScore: z.number(),
  filesRestored: z.array(z.string()),
  summary: z.string(),
}

/** Declares trm.save, trm.restore, trm.list, trm.reset and trm.undo. */
export function historyTools(app: Registrar<Critic, TrmSession>): void {
  app.tool('save', {
    about: 'Keeps files, step, scores and notes as they are now, to come back to. At most 20 for a session.',
    hints: { destructive: false },
    aliases: named('save', { description: 'desc' }),
    input: { ...sidArgument, desc: z.string().max(500).optional().describe('what this state is') },
    output: { checkpointId: z.string(), message: z.string(), summary: z.string() },
    example: { before: [started], args: { desc: 'before the change' } },
    run: ({ sid, desc }, ctx) => once(ctx, 'save', (request) => save(ctx, { sid, desc, request })),
  })

  app.tool('list', {
    about: 'The checkpoints of a session.',
    hints: reading,
    aliases: named('list'),
    input: sidArgument,
    output: { checkpoints: anyList(), summary: z.string() },
    example: { before: [started], args: {} },
    async run({ sid }, ctx) {
      const { id } = await sessionFor(ctx, sid)
      const checkpoints = await ctx.store.store.checkpoints(id)
      return {
        checkpoints: checkpoints.map(({ id: cid, made_ms, standing, description }) => ({
          id: cid,
          timestamp: made_ms,
          step: standing.step,
          score: standing.best_score,
          emaScore: standing.ema ?? 0,
          ...(description === null ? {} : { description }),
        })),
        summary: `${counted(checkpoints.length, 'checkpoint')}.`,
      }
    },
  })

  app.tool('restore', {
    about: 'Back to a checkpoint: files that the session changed, step, scores and notes. Other files stay.',
    hints: acting,
    aliases: named('restore', { checkpoint_id: 'cid', checkpointId: 'cid' }),
    input: { ...sidArgument, cid: z.string().describe('checkpointId of trm.save'), ...forceArgument },
    output: backOutput,
    example: { before: [started, { tool: 'save', args: {} }, submitted], args: { cid: 'latest' } },
    async run({ sid, cid, force }, ctx) {
      return back(ctx, { tool: 'restore', sid, force, done: 'Restored' }, async (session, asked) => {
        const checkpoints = await ctx.store.store.checkpoints(session.id)
        const checkpoint = cid === 'latest' ? checkpoints.at(-1) : checkpoints.find(({ id }) => id === cid)
        if (checkpoint === undefined)
          throw new CausewayError('CHECKPOINT_NOT_FOUND', `the session has no checkpoint ${cid}`, {
            data: { sid: session.id, checkpoints: checkpoints.map(({ id }) => id) },
          })
        return restore(ctx.store, session, { ...asked, checkpoint })
      })
    },
  })

  app.tool('reset', {
    about: 'Back to the start: files that the session changed become as they were. Your other work stays.',
    hints: acting,
    aliases: named('reset'),
    input: { ...sidArgument, ...forceArgument },
    output: backOutput,
    example: { before: [started, submitted], args: {} },
    run: ({ sid, force }, ctx) =>
      back(ctx, { tool: 'reset', sid, force, done: 'Reset' }, (session, asked) =>
        reset(ctx.store, session, asked),
      ),
  })

  app.tool('undo', {
    about: 'Takes the last candidate back: its files, step, scores and streak.',
    hints: acting,
    aliases: named('undo'),
    input: { ...sidArgument, ...forceArgument },
    output: backOutput,
    example: { before: [started, submitted], args: {} },
    run: ({ sid, force }, ctx) =>
      back(ctx, { tool: 'undo', sid, force, done: 'Undone' }, (session, asked) =>
        undo(ctx.store, session, asked),
      ),
  })
}

async function save(
  ctx: TrmContext,
  {
    sid,
    desc,
    request,
  }: { readonly sid: string | undefined; readonly desc: string | undefined; readonly request: string },
) {
  const { store: critic } = ctx
  const session = await sessionFor(ctx, sid)
  refuseBusy(critic, session)
  const { id, standing } = session
  const known = await critic.store.checkpoints(id)
  if (known.length >= mostCheckpoints)
    throw new CausewayError('TOO_MANY_CHECKPOINTS', `the session has ${known.length} checkpoints`, {
      data: { sid: id, most: mostCheckpoints },
    })
  const [steps, landings] = await Promise.all([critic.store.steps(id), critic.store.landings(id)])
  const checkpointId = critic.newId()
  const answer = {
    checkpointId,
    message: 'Checkpoint saved',
    summary: `Step ${standing.step} is kept as ${checkpointId}.`,
  }
  const row = {
    id: checkpointId,
    session_id: id,
    description: desc ?? null,
    standing,
    live: liveSteps(steps).map((step) => step.id),
    landing_id: landings.at(-1)?.id ?? 0,
    made_ms: critic.now(),
  }
  await critic.store.addCheckpoint(row, request, answer)
  return answer
}

interface BackCall {
  readonly tool: string
  readonly sid: string | undefined
  readonly force: boolean
  /** for the message */
  readonly done: string
}

async function back(
  ctx: TrmContext,
  { tool, sid, force, done }: BackCall,
  go: (session: SessionRow, asked: BackRequest) => Promise<WentBack>,
) {
  return once(ctx, tool, async (request) => {
    const session = await sessionFor(ctx, sid)
    refuseBusy(ctx.store, session)
    const answer = ({ standing, filesRestored }: WentBack) => ({
      message: `${done}; now at step ${standing.step}`,
      currentStep: standing.step,
      score: standing.best_score,
      emaScore: standing.ema ?? 0,
      filesRestored,
      summary: `${done}: step ${standing.step}, best score ${standing.best_score}. ${filesRestored.length === 0 ? 'No file had to be changed' : `Written: ${filesRestored.join(', ')}`}.`,
    })
    return answer(await go(session, { request, force, answer }))
  })
}
