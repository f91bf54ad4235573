/**
 * One evaluation: records edits by other programs, lands the candidate, copies the project, runs the commands, and
 * then judges and commits, or rolls back.
 */
import { randomUUID } from 'node:crypto'
import { isCausewayError } from '@causeway/protocol'
import type { EvalResult } from '../domain/evaluation/result.ts'
import { epsilon } from '../domain/evaluation/score.ts'
import { judgeStep } from '../evaluation/judge-step.ts'
import type { SessionRow, StepRow } from '../store/rows.ts'
import { writeFiles } from '../workspace/project-files.ts'
import { withWorkCopy } from '../workspace/work-copy.ts'
import { type Critic, shutdownError } from './critic.ts'
import type { Proposal } from './propose.ts'
import { rollBack } from './roll-back.ts'
import { createCancelledError, RunningStep } from './running-step.ts'
import { recordSessionChanges } from './seen-files.ts'

export interface StepRequest {
  readonly request: string
  readonly reason: string | null
  readonly proposal?: Proposal | undefined
  readonly accept?: readonly string[] | undefined
  readonly isBaseline?: boolean
}

/**
 * Starts an evaluation, which continues independently of the call. If the start fails, nothing changes and no step is
 * used.
 */
export async function startStep(
  critic: Critic,
  session: SessionRow,
  request: StepRequest,
): Promise<RunningStep> {
  const { store, snapshots, running } = critic
  const { config, standing } = session
  const { reason, proposal, isBaseline = false } = request
  const edits: RecordedEdits = isBaseline
    ? { editedPaths: [], landingId: null, changedPaths: [] }
    : await recordEdits(critic, session)
  // Without a candidate, edits by another program are evaluated as a candidate.
  const candidateKind = proposal !== undefined || edits.editedPaths.length > 0 ? 'submit' : 'rerun'
  const kind = isBaseline ? 'baseline' : candidateKind
  const paths = [...(proposal?.changes.keys() ?? [])]
  const shouldLand = paths.length > 0 && config.write !== 'improved'
  const before = shouldLand ? await snapshots.take(config.repo, paths) : undefined
  const step = await store.beginStep(
    { id: session.id, rev: session.rev, standing: { ...standing, notes: reason ?? standing.notes } },
    {
      session_id: session.id,
      number: kind === 'baseline' ? standing.step : standing.step + 1,
      kind,
      request: request.request,
      marker: randomUUID(),
      reason,
      standing_before: standing,
    },
    before,
  )
  if (proposal === undefined && edits.landingId !== null) await store.setLanding(step.id, edits.landingId)
  if (shouldLand && proposal !== undefined) {
    try {
      await land(critic, session, proposal, step.landing_id ?? 0)
    } catch (error) {
      await rollBack(critic, step, 'failed')
      throw error
    }
  }
  const started = new RunningStep({
    step,
    repo: config.repo,
    total: config.signals.length,
    evaluate: (signal) => evaluateOrRollBack(critic, session, { request, edits, step, signal }),
  })
  running.set(session.id, started)
  return started
}

interface RecordedEdits {
  /** Files changed by another program since the last step, sorted. */
  readonly editedPaths: readonly string[]
  /** Id of the landing of these files, or `null` without edits. */
  readonly landingId: number | null
  /** Files that differ from the start of the session, sorted. */
  readonly changedPaths: readonly string[]
}

/** Records edits by other programs. Throws `SNAPSHOT_TOO_LARGE`. */
async function recordEdits(
  { store, snapshots }: Critic,
  { id, config, start }: SessionRow,
): Promise<RecordedEdits> {
  const landings = await store.listLandings(id)
  const afterSnapshots = landings.flatMap(({ after }) => after ?? []).reverse()
  if (start === null) {
    const knownEntries = afterSnapshots.length === 0 ? [] : (await snapshots.combine(afterSnapshots)).entries
    return { editedPaths: [], landingId: null, changedPaths: knownEntries.map(({ path }) => path) }
  }
  const knownManifest = await snapshots.combine([...afterSnapshots, start])
  const editedPaths = await snapshots.compare(config.repo, knownManifest)
  const changedPaths = afterSnapshots.length === 0 ? editedPaths : await snapshots.compare(config.repo, start)
  if (editedPaths.length === 0) return { editedPaths, landingId: null, changedPaths }
  const before = await snapshots.select(knownManifest, editedPaths)
  const landingId = store.beginLanding({ session_id: id, kind: 'edit', before })
  await store.finishLanding(landingId, await snapshots.take(config.repo, editedPaths))
  return { editedPaths, landingId, changedPaths }
}

async function land(
  { store, snapshots }: Critic,
  session: SessionRow,
  proposal: Proposal,
  landingId: number,
): Promise<void> {
  const { repo } = session.config
  const paths = [...proposal.changes.keys()]
  await writeFiles(repo, proposal.changes, proposal)
  await store.finishLanding(landingId, await snapshots.take(repo, paths))
  await recordSessionChanges(store, session, paths)
}

interface StartedStep {
  readonly request: StepRequest
  readonly edits: RecordedEdits
  readonly step: StepRow
  readonly signal: AbortSignal
}

async function evaluateOrRollBack(
  critic: Critic,
  session: SessionRow,
  started: StartedStep,
): Promise<EvalResult> {
  const { step, signal } = started
  try {
    return await evaluate(critic, session, started)
  } catch (error) {
    if (!signal.aborted) {
      await rollBack(critic, step, 'failed')
      throw error
    }
    await rollBack(critic, step, signal.reason === shutdownError ? 'interrupted' : 'cancelled')
    throw isCausewayError(signal.reason) ? signal.reason : createCancelledError()
  } finally {
    // The next step can start as soon as this one is stored.
    if (critic.running.get(session.id)?.step === step) critic.running.delete(session.id)
    critic.notifyChanged(session.id)
  }
}

async function evaluate(critic: Critic, session: SessionRow, started: StartedStep): Promise<EvalResult> {
  const { config } = session
  const { request, edits, step, signal } = started
  const startMs = performance.now()
  return withWorkCopy(critic, config, { marker: step.marker, signal }, async (cwd) => {
    const { proposal } = request
    if (proposal !== undefined && config.write === 'improved')
      await writeFiles(cwd, proposal.changes, proposal)
    const paths = [...(proposal?.changes.keys() ?? [])].sort()
    const assessment = await judgeStep(critic, session, {
      ...request,
      step,
      cwd,
      signal,
      filesChanged: proposal === undefined ? edits.editedPaths : paths,
      changedPaths: [...new Set([...edits.changedPaths, ...paths])].sort(),
    })
    const landed = await landIfBetter(critic, session, started, assessment.result)
    const result = { ...assessment.result, landed, ms: Math.round(performance.now() - startMs) }
    signal.throwIfAborted()
    await critic.store.finishStep(step.id, result, {
      id: session.id,
      rev: session.rev + 1,
      standing: assessment.standing,
      baseline: assessment.baseline,
      status: result.shouldHalt ? 'halted' : 'active',
    })
    return result
  })
}

/** Lands a better candidate with `write: improved`. Returns whether its files are in the user's project. */
async function landIfBetter(
  critic: Critic,
  session: SessionRow,
  { request, step }: StartedStep,
  { score, guard }: EvalResult,
): Promise<boolean> {
  const { store, snapshots } = critic
  const { id, config, standing } = session
  const { proposal } = request
  if (proposal === undefined) return config.write !== 'end'
  if (config.write !== 'improved') return config.write === 'each'
  const isBetter = standing.best_step === null || score > standing.best_score + epsilon
  if (guard?.confirms === false) return false
  const paths = [...proposal.changes.keys()]
  if (!isBetter || paths.length === 0) return false
  const before = await snapshots.take(config.repo, paths)
  const landing = store.beginLanding({ session_id: id, kind: 'submit', before })
  await store.setLanding(step.id, landing)
  await land(critic, session, proposal, landing)
  return true
}
