import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { formatCount } from '../domain/format.ts'
import { TrmError } from '../errors.ts'
import { runOnlyTests } from '../evaluation/only-tests.ts'
import type { Critic } from '../session/critic.ts'
import { propose } from '../session/propose.ts'
import { startStep } from '../session/start-step.ts'
import type { SessionRow } from '../store/rows.ts'
import {
  type ClientState,
  checkWith,
  createAliases,
  createProgressListener,
  createRequestKey,
  detailsArgument,
  exampleCandidate,
  exampleStart,
  findSession,
  formatDone,
  readHints,
  sidArgument,
  type TrmContext,
  waitArgument,
  waitForResult,
  writeHints,
} from './tool-context.ts'

const candidate = z
  .looseObject({ mode: z.enum(['modify', 'diff', 'patch', 'files', 'create']) })
  .describe(
    'modify: changes [{file, edits: [{type: replace, oldText, newText, all?} | {type: insertBefore|insertAfter|replaceLine|deleteLine, line, content?} | {type: replaceRange|deleteRange, startLine, endLine, content?}]}]; diff: changes [{path, diff}]; patch: patch; files|create: files [{path, content | delete: true}]. In .ipynb also cell (index or id), insertCell, replaceCell, deleteCell.',
  )

const onlySchema = z.union([z.literal('failed'), z.array(z.string().min(1)).min(1).max(50)])
const acceptSchema = z.array(z.string().min(1).max(1000)).max(50)

const resultOutput = {
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

export function declareSubmitTool(app: Registrar<Critic, ClientState>): void {
  app.tool('submit', {
    title: 'Submit candidate',
    about:
      'Apply a candidate or, without one, take the files on disk. Run the commands; return score, feedback and whether to stop. Use it after each change.',
    searchHint: 'try patch, run tests',
    hints: writeHints,
    aliases: createAliases('submit', { rationale: 'reason' }),
    input: {
      ...sidArgument,
      candidate: candidate.optional(),
      reason: z.string().max(4000).optional().describe('Note'),
      only: z
        .unknown()
        .check(checkWith(onlySchema.optional()))
        .optional()
        .describe('"failed" or test ids; not a step'),
      accept: z
        .unknown()
        .check(checkWith(acceptSchema.optional()))
        .optional()
        .describe('Paths with accepted warnings'),
      force: z.boolean().default(false).describe('Exceed the step limit'),
      ...detailsArgument,
      ...waitArgument(50),
    },
    output: resultOutput,
    task: 'optional',
    example: {
      before: [exampleStart],
      args: { candidate: exampleCandidate, reason: 'divide by the count', wait: 60 },
    },
    async run({ sid, candidate: candidateInput, reason, only, accept, force, details, wait }, ctx) {
      const session = await findSession(ctx, sid)
      if (only !== undefined)
        return runSelectedTests(ctx, session, { candidateInput, only: onlySchema.parse(only) })
      const request = createRequestKey('submit', ctx)
      const storedStep = await ctx.store.store.findStepByRequest(request)
      if (storedStep?.session_id === session.id && storedStep.result !== null)
        return formatDone(session, storedStep.result, details)
      const currentStep = ctx.store.running.get(session.id)
      if (currentStep?.step.request === request)
        return waitForResult(ctx, session, currentStep, { wait, details })
      ctx.store.store.checkIdle(session.config.repo, session.id)
      if (!force) checkLimit(session)
      const running = await startStep(ctx.store, session, {
        request,
        reason: reason ?? null,
        proposal:
          candidateInput === undefined ? undefined : await propose(ctx.store, session, candidateInput),
        accept: acceptSchema.optional().parse(accept),
      })
      return waitForResult(ctx, session, running, { wait, details })
    },
  })
}

export function declareValidateTool(app: Registrar<Critic, ClientState>): void {
  app.tool('validate', {
    title: 'Validate candidate',
    about:
      'Check a candidate without writing or running anything. Returns the exact changed lines, or the error that submit would report. Use it before submitting an uncertain diff.',
    searchHint: 'does diff apply, dry run',
    hints: readHints,
    aliases: createAliases('validate'),
    input: { ...sidArgument, candidate },
    output: {
      valid: z.boolean(),
      errors: z.array(z.unknown()),
      warnings: z.array(z.unknown()),
      preview: z.unknown(),
      summary: z.string(),
    },
    example: { before: [exampleStart], args: { candidate: exampleCandidate } },
    async run({ sid, candidate: candidateInput }, ctx) {
      const session = await findSession(ctx, sid)
      try {
        const { before, changes, previousPaths, warnings } = await propose(ctx.store, session, candidateInput)
        const preview = await ctx.store.engine.call('preview', { before, changes, previousPaths })
        const { filesAffected, linesAdded, linesRemoved } = preview
        return {
          valid: true,
          errors: [],
          warnings,
          preview,
          summary: `The candidate applies: ${formatCount(filesAffected.length, 'file')}, +${linesAdded} -${linesRemoved}.`,
        }
      } catch (error) {
        if (!isCausewayError(error) || error.code === 'INTERNAL') throw error
        const { code, message, data, remedy } = error
        return {
          valid: false,
          errors: [{ error: message, code, details: { ...data, suggestion: remedy } }],
          warnings: [],
          preview: null,
          summary: `The candidate would be rejected: ${code}: ${message}; ${remedy}`,
        }
      }
    },
  })
}

async function runSelectedTests(
  ctx: TrmContext,
  session: SessionRow,
  { candidateInput, only }: { readonly candidateInput: unknown; readonly only: z.output<typeof onlySchema> },
) {
  if (candidateInput !== undefined)
    throw new CausewayError('INVALID_ARGUMENTS', 'submit: only cannot be combined with candidate', {
      remedy: 'submit the candidate first, then call with only',
    })
  ctx.store.store.checkIdle(session.config.repo, session.id)
  return runOnlyTests(ctx.store, session, {
    only,
    signal: ctx.signal,
    onProgress: createProgressListener(ctx),
  })
}

/** Rejects candidates after the last step, but not after success or plateau. */
function checkLimit({ id, standing, config }: SessionRow): void {
  if (standing.step < config.halt.max) return
  throw new TrmError('SESSION_HALTED', `all ${config.halt.max} steps are used: ${id}`, {
    data: { sid: id, step: standing.step, max: config.halt.max },
  })
}
