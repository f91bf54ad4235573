import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { readAverage } from '../domain/evaluation/score.ts'
import { formatCount } from '../domain/format.ts'
import { TrmError } from '../errors.ts'
import type { Critic } from '../session/critic.ts'
import {
  findCheckpointDestination,
  findResetDestination,
  findUndoDestination,
  revert,
} from '../session/history.ts'
import { listLiveSteps, type SessionRow } from '../store/rows.ts'
import {
  type ClientState,
  createAliases,
  createUnknownListSchema,
  exampleStart,
  exampleSubmit,
  findSession,
  readHints,
  runOnce,
  sidArgument,
  type TrmContext,
  writeHints,
} from './tool-context.ts'

const maxCheckpoints = 20

const forceArgument = {
  force: z.boolean().default(false).describe('Overwrite files that were edited since the session wrote them'),
}

const revertOutput = {
  message: z.string(),
  currentStep: z.int(),
  score: z.number(),
  emaScore: z.number(),
  filesRestored: z.array(z.string()),
  summary: z.string(),
}

export function declareHistoryTools(app: Registrar<Critic, ClientState>): void {
  declareCheckpointTools(app)
  app.tool('restore', {
    title: 'Restore checkpoint',
    about:
      'Restore a checkpoint: the files that the session changed, step, scores and notes. Returns the written files; other files stay. Use it to go back to a saved state; undo for the last candidate, reset for the start.',
    searchHint: 'go back to checkpoint',
    hints: writeHints,
    aliases: createAliases('restore', { checkpointId: 'cid' }),
    input: {
      ...sidArgument,
      cid: z.string().describe('checkpointId of save, or latest'),
      ...forceArgument,
    },
    output: revertOutput,
    example: { before: [exampleStart, { tool: 'save', args: {} }, exampleSubmit], args: { cid: 'latest' } },
    run: ({ cid, ...args }, ctx) =>
      revertOnce(ctx, { ...args, tool: 'restore', outcome: 'Restored' }, (critic, session) =>
        findCheckpointDestination(critic, session, cid),
      ),
  })

  app.tool('reset', {
    title: 'Reset to start',
    about:
      'Restore all files that the session changed to their state at the start. Returns the written files; other changes of the user stay. Use it to discard all candidates and start again.',
    searchHint: 'throw away all attempts',
    hints: writeHints,
    aliases: createAliases('reset'),
    input: { ...sidArgument, ...forceArgument },
    output: revertOutput,
    example: { before: [exampleStart, exampleSubmit], args: {} },
    run: (args, ctx) => revertOnce(ctx, { ...args, tool: 'reset', outcome: 'Reset' }, findResetDestination),
  })
}

export function declareUndoTool(app: Registrar<Critic, ClientState>): void {
  app.tool('undo', {
    title: 'Undo candidate',
    about:
      'Undo the last candidate: files, step, scores and patience. Returns the written files; another call undoes the candidate before. Use it after a candidate that made things worse; restore for a saved state.',
    searchHint: 'last change made it worse, revert',
    hints: writeHints,
    aliases: createAliases('undo'),
    input: { ...sidArgument, ...forceArgument },
    output: revertOutput,
    example: { before: [exampleStart, exampleSubmit], args: {} },
    run: (args, ctx) => revertOnce(ctx, { ...args, tool: 'undo', outcome: 'Undone' }, findUndoDestination),
  })
}

function declareCheckpointTools(app: Registrar<Critic, ClientState>): void {
  app.tool('save', {
    title: 'Save checkpoint',
    about:
      'Save files, step, scores and notes as a checkpoint and return its id. Use it before a risky change; a session has at most 20.',
    searchHint: 'make checkpoint',
    hints: { destructive: false },
    aliases: createAliases('save', { description: 'desc' }),
    input: { ...sidArgument, desc: z.string().max(500).optional().describe('Description of the state') },
    output: { checkpointId: z.string(), message: z.string(), summary: z.string() },
    example: { before: [exampleStart], args: { desc: 'before the change' } },
    run: ({ sid, desc = null }, ctx) =>
      runOnce(ctx, 'save', async (request) =>
        saveCheckpoint(ctx, await findSession(ctx, sid), { desc, request }),
      ),
  })

  app.tool('list', {
    title: 'List checkpoints',
    about: 'List the checkpoints of a session with step and score. Use it to find the id for restore.',
    searchHint: 'which checkpoints exist',
    hints: readHints,
    aliases: createAliases('list'),
    input: sidArgument,
    output: { checkpoints: createUnknownListSchema(), summary: z.string() },
    example: { before: [exampleStart], args: {} },
    async run({ sid }, ctx) {
      const session = await findSession(ctx, sid)
      const checkpoints = await ctx.store.store.listCheckpoints(session.id)
      return {
        checkpoints: checkpoints.map(({ id, made_ms, standing, description }) => ({
          id,
          timestamp: made_ms,
          step: standing.step,
          score: standing.best_score,
          emaScore: readAverage(standing),
          ...(description === null ? {} : { description }),
        })),
        summary: `${formatCount(checkpoints.length, 'checkpoint')}.`,
      }
    },
  })
}

async function saveCheckpoint(
  { store: critic }: TrmContext,
  session: SessionRow,
  { desc, request }: { readonly desc: string | null; readonly request: string },
) {
  critic.store.checkIdle(session.config.repo, session.id)
  const { id, standing } = session
  const { length } = await critic.store.listCheckpoints(id)
  if (length >= maxCheckpoints)
    throw new TrmError('TOO_MANY_CHECKPOINTS', `the session has ${length} checkpoints`, {
      data: { sid: id, most: maxCheckpoints },
    })
  const [steps, landings] = await Promise.all([critic.store.listSteps(id), critic.store.listLandings(id)])
  const checkpointId = critic.newId()
  const answer = {
    checkpointId,
    message: 'Checkpoint saved',
    summary: `Step ${standing.step} is saved as ${checkpointId}.`,
  }
  const row = {
    id: checkpointId,
    session_id: id,
    description: desc,
    standing,
    live: listLiveSteps(steps).map((step) => step.id),
    landing_id: landings.at(-1)?.id ?? 0,
    made_ms: critic.now(),
  }
  await critic.store.addCheckpoint(row, { id: request, answer })
  return answer
}

interface RevertCall {
  readonly tool: string
  readonly sid?: string | undefined
  readonly force: boolean
  readonly outcome: string
}

const revertOnce = (
  ctx: TrmContext,
  { tool, sid, ...options }: RevertCall,
  findDestination: typeof findResetDestination,
) =>
  runOnce(ctx, tool, async (request) => {
    const session = await findSession(ctx, sid)
    ctx.store.store.checkIdle(session.config.repo, session.id)
    const destination = await findDestination(ctx.store, session)
    return revert(ctx.store, session, destination, { ...options, request })
  })
