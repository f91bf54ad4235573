/** Submitting a candidate, and looking at one without submitting it. */

import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { awaitStep } from '../await-step.ts'
import { type Critic, refuseBusy } from '../critic.ts'
import { counted } from '../domain/counted.ts'
import { previewOf } from '../domain/preview.ts'
import { onlyTests } from '../only-tests.ts'
import { propose } from '../propose.ts'
import type { SessionRow } from '../rows.ts'
import { beginStep } from '../run-step.ts'
import {
  acting,
  described,
  evaluationAnswer,
  evaluationOutput,
  named,
  progressOf,
  reading,
  repair,
  requestKey,
  runningAnswer,
  sessionFor,
  sidArgument,
  started,
  type TrmContext,
  type TrmSession,
  waitArgument,
} from './shape.ts'

const candidate = z
  .looseObject({ mode: z.enum(['modify', 'diff', 'patch', 'files', 'create']) })
  .describe(
    'modify: changes [{file, edits: [{type: replace, oldText, newText, all?} | {type: insertBefore|insertAfter|replaceLine|deleteLine, line, content?} | {type: replaceRange|deleteRange, startLine, endLine, content?}]}]; diff: changes [{path, diff}]; patch: patch; files: files [{path, content | delete: true}]; create: the same. Lines as before it. In .ipynb edits and diffs have cell (index or id); {type: insertCell|replaceCell, content}, deleteCell.',
  )

/** Which tests `only` means. */
const onlyForm = z.union([z.literal('failed'), z.array(z.string().min(1)).min(1).max(50)])

/** Declares trm.submit and trm.validate. */
export function candidateTools(app: Registrar<Critic, TrmSession>): void {
  app.tool('submit', {
    about:
      'Applies a candidate, all or nothing, runs the commands, scores, says whether to go on. A refused one costs no step.',
    hints: acting,
    aliases: named('submit', { rationale: 'reason' }),
    input: {
      ...sidArgument,
      candidate: candidate.optional(),
      reason: z.string().max(4000).optional().describe('why, for the notes'),
      only: described(onlyForm, '"failed" or test ids: runs these alone; no candidate, no step'),
      force: z.boolean().default(false).describe('go past the limit'),
      ...waitArgument(50),
    },
    output: evaluationOutput,
    task: 'optional',
    example: { before: [started], args: { candidate: repair, reason: 'divide by the count', wait: 60 } },
    async run({ sid, candidate: given, reason, only, force, wait }, ctx) {
      const session = await sessionFor(ctx, sid)
      if (only !== undefined) return chosenTests(ctx, session, { given, only: onlyForm.parse(only) })
      const running = await begun(ctx, session, { given, reason, force })
      if ('result' in running) return running.result
      const result = await awaitStep(running.running, {
        waitS: wait,
        signal: ctx.signal,
        onProgress: progressOf(ctx),
        cancels: true,
      })
      const { step, progress } = running.running
      return result === undefined
        ? runningAnswer(session, { step: step.number, ...progress })
        : evaluationAnswer(session.id, result)
    },
  })

  app.tool('validate', {
    about: 'What submitting a candidate would change, or why it would be refused. Writes and runs nothing.',
    hints: reading,
    aliases: named('validate'),
    input: { ...sidArgument, candidate },
    output: {
      valid: z.boolean(),
      errors: z.array(z.unknown()),
      warnings: z.array(z.unknown()),
      preview: z.unknown(),
      summary: z.string(),
    },
    example: { before: [started], args: { candidate: repair } },
    async run({ sid, candidate: given }, ctx) {
      const session = await sessionFor(ctx, sid)
      try {
        const { before, applied } = await propose(ctx.store, session, given)
        const preview = previewOf(before, applied)
        return {
          valid: true,
          errors: [],
          warnings: applied.report.warnings,
          preview,
          summary: `The candidate applies: ${counted(preview.filesAffected.length, 'file')}, +${preview.linesAdded} -${preview.linesRemoved}.`,
        }
      } catch (error) {
        if (!isCausewayError(error) || error.code === 'INTERNAL') throw error
        const { code, message, data, remedy } = error
        return {
          valid: false,
          errors: [{ error: message, code, details: { ...data, suggestion: remedy } }],
          warnings: [],
          preview: null,
          summary: `The candidate would be refused: ${code}: ${message}; ${remedy}`,
        }
      }
    },
  })
}

/** A look at a few tests, kept for a repeat of the call. */
function chosenTests(
  ctx: TrmContext,
  session: SessionRow,
  { given, only }: { readonly given: unknown; readonly only: 'failed' | readonly string[] },
) {
  if (given !== undefined)
    throw new CausewayError(
      'INVALID_ARGUMENTS',
      'submit: only runs tests of what is there, without candidate',
      {
        remedy: 'submit the candidate first, then call with only',
      },
    )
  refuseBusy(ctx.store, session)
  const onProgress = progressOf(ctx)
  return onlyTests(ctx.store, session, { only, signal: ctx.signal, onProgress })
}

interface Asked {
  readonly given: unknown
  readonly reason: string | undefined
  readonly force: boolean
}

/** The evaluation of this request: one that runs, one that is over where the call is a repeat, or a new one. */
async function begun(ctx: TrmContext, session: SessionRow, { given, reason, force }: Asked) {
  const { store: critic } = ctx
  const request = requestKey('submit', ctx)
  const earlier = await critic.store.stepByRequest(request)
  if (earlier?.session_id === session.id && earlier.result !== null)
    return { result: evaluationAnswer(session.id, earlier.result) }
  const current = critic.running.get(session.id)
  if (current !== undefined && current.step.request === request) return { running: current }
  refuseBusy(critic, session)
  refuseHalted(session, force)
  const proposal = given === undefined ? undefined : await propose(critic, session, given)
  const warnings = (proposal?.applied.report.warnings ?? []).map(({ code, message }) => `${code}: ${message}`)
  const running = await beginStep(critic, session, {
    kind: proposal === undefined ? 'rerun' : 'submit',
    request,
    reason: reason ?? null,
    proposal,
    warnings,
  })
  return { running }
}

/** Success and plateau are advice; the limit of steps holds. */
function refuseHalted({ id, standing, config }: SessionRow, force: boolean): void {
  if (force || standing.step < config.halt.max) return
  throw new CausewayError('SESSION_HALTED', `all ${config.halt.max} steps are used: ${id}`, {
    data: { sid: id, step: standing.step, max: config.halt.max },
  })
}
