/** Beginning a session. */
import { stat } from 'node:fs/promises'
import { type Registrar, readArguments } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { awaitStep } from '../await-step.ts'
import { type Critic, refuseProjectBusy } from '../critic.ts'
import { layDesk } from '../desk.ts'
import { commandStatus, type Detected, detect, editableInstalls } from '../detect.ts'
import { type SandboxWish, stricter } from '../domain/sandbox.ts'
import { freshStanding } from '../domain/score.ts'
import { type SessionConfig, sessionConfig, shownConfig } from '../domain/session-config.ts'
import { endSession } from '../end-session.ts'
import type { SessionRow } from '../rows.ts'
import { beginStep } from '../run-step.ts'
import { hasBwrap } from '../runner/has-bwrap.ts'
import {
  acting,
  evaluationAnswer,
  named,
  once,
  progressOf,
  refuseOff,
  runningAnswer,
  type TrmContext,
  type TrmSession,
} from './shape.ts'
import { detailed, otherNames, startInput } from './start-arguments.ts'

/** Most sessions that are open at once. */
const mostSessions = 50

/** A session that nobody has changed for so long may be ended for another, ms. */
const idleMs = 7 * 86_400_000

/** Declares trm.start. */
export function startTool(app: Registrar<Critic, TrmSession>): void {
  app.tool('start', {
    about:
      'Begins to refine a project that these commands judge. Runs them for the baseline; changes no file.',
    hints: acting,
    aliases: { ...named('start', otherNames) },
    input: startInput,
    output: {
      sessionId: z.string(),
      status: z.string(),
      config: z.unknown(),
      baseline: z.unknown(),
      summary: z.string(),
    },
    task: 'optional',
    example: { args: { repo: 'sums', test: 'python3 -m unittest', halt: { max: 8 } } },
    async run({ preflight, wait, notes = '', repo, ...request }, ctx) {
      refuseOff(ctx.store)
      const { sessionId } = await once(ctx, 'start', async (key) => {
        const { options, ...given } = readArguments('start', detailed, request)
        const sandbox = await settled(stricter(options.sandbox ?? 'none', ctx.store.sandbox))
        const folder = await projectFolder(ctx.store, repo)
        const config = sessionConfig(folder, { ...given, ...options, sandbox })
        allow(ctx, config, await detect(folder))
        if (preflight) refuseProjectBusy(ctx.store, folder)
        await makeRoom(ctx.store, key)
        const id = ctx.store.newId()
        const answer = { sessionId: id }
        const place = config.write === 'end' ? await layDesk(ctx.store, folder, id) : folder
        const row = { id, config: { ...config, repo: place }, standing: freshStanding(notes) }
        await ctx.store.store.createSession(row, key, answer)
        return answer
      })
      ctx.session.sid = sessionId
      return startAnswer(ctx, sessionId, { preflight, wait })
    },
  })
}

async function startAnswer(
  ctx: TrmContext,
  sessionId: string,
  { preflight, wait }: { readonly preflight: boolean; readonly wait: number },
) {
  const { store: critic } = ctx
  const session = await critic.store.session(sessionId)
  if (session === undefined)
    throw new CausewayError('SESSION_NOT_FOUND', `the session has ended: ${sessionId}`)
  const { config } = session
  const detected = await detect(config.project)
  const commands = await statuses(config)
  const missing = Object.entries(commands).filter(([, { status }]) => status === 'unavailable')
  const baseline = preflight ? await baselineOf(ctx, session, wait) : null
  const warnings = [
    ...missing.map(([name]) => `${name}: a program of the command was not found; it counts as failed`),
    ...(await editableWarnings(config)),
    ...(config.signals.length === 0
      ? ['no command is given: every score is 0; start again with those of detected that fit']
      : []),
  ]
  const initial = baseline !== null && 'signals' in baseline ? baseline : null
  return {
    sessionId,
    message: 'TRM session initialized',
    status: baseline?.status ?? 'ready',
    config: shownConfig(config),
    detected,
    commands,
    preflight: {
      repoExists: true,
      commandsAvailable: Object.fromEntries(
        Object.entries(commands).map(([name, { status }]) => [name, status !== 'unavailable']),
      ),
      initialTests:
        initial === null || initial.tests === null
          ? null
          : { success: initial.tests.failed === 0, ...initial.tests },
    },
    baseline,
    warnings,
    summary: `Session ${sessionId} on ${config.project}. ${baseline === null ? 'Nothing was run yet.' : baseline.summary}`,
  }
}

/** Tests that import an editable install see the project, where a candidate may not be yet. */
async function editableWarnings({ project, write, isolate }: SessionConfig): Promise<readonly string[]> {
  const files = isolate && write !== 'each' ? await editableInstalls(project) : []
  return files.map(
    (file) =>
      `${file}: tests would import the project and not the candidate; use write each, or install without -e`,
  )
}

/** The baseline, run now unless it was before: a repeated call gets the same one. */
async function baselineOf(ctx: TrmContext, session: SessionRow, wait: number) {
  const { store: critic } = ctx
  const done = (await critic.store.steps(session.id)).find(
    ({ kind, result }) => kind === 'baseline' && result !== null,
  )
  if (done?.result) return evaluationAnswer(session.id, done.result)
  const running =
    critic.running.get(session.id) ??
    (await beginStep(critic, session, {
      kind: 'baseline',
      request: `start ${ctx.requestId}`,
      reason: null,
      warnings: [],
    }))
  const result = await awaitStep(running, {
    waitS: wait,
    signal: ctx.signal,
    onProgress: progressOf(ctx),
    cancels: true,
  })
  return result === undefined
    ? runningAnswer(session, { step: running.step.number, ...running.progress })
    : evaluationAnswer(session.id, result)
}

/** The real path of a project; throws `OUTSIDE_ROOTS`, `FILE_NOT_FOUND`, `DIRECTORY_NOT_FOUND`. */
async function projectFolder({ roots }: Critic, repo: string): Promise<string> {
  let folder: string
  try {
    folder = await roots.resolve(repo)
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'OUTSIDE_ROOTS') throw error
    // Folders that were added for reading do not count here.
    throw new CausewayError('OUTSIDE_ROOTS', error.message, {
      remedy: 'add its folder to CAUSEWAY_TRM_ROOTS and start the server again',
      data: error.data,
    })
  }
  if ((await stat(folder)).isDirectory()) return folder
  throw new CausewayError('DIRECTORY_NOT_FOUND', `not a folder: ${repo}`, { data: { path: repo } })
}

/** Holds the policy that the server has for this caller; throws `COMMAND_REFUSED`. */
function allow({ store, holder }: TrmContext, { signals }: SessionConfig, detected: Detected): void {
  const { commands, trusted } = store
  if (commands === 'any' || (holder !== undefined && trusted.has(holder))) return
  const known = Object.values(detected)
  const isAllowed = (text: string): boolean =>
    commands === 'detected' ? known.includes(text) : new RegExp(`^(?:${commands})$`, 's').test(text)
  const refused = signals.find((signal) => !isAllowed(signal.command))
  if (refused === undefined) return
  throw new CausewayError('COMMAND_REFUSED', `the server does not allow this command: ${refused.command}`, {
    data: { signal: refused.name, policy: commands, allowed: commands === 'detected' ? detected : commands },
  })
}

/** The sandbox that a wish comes to on this machine; throws `SANDBOX_UNAVAILABLE`. */
async function settled(wish: SandboxWish): Promise<'none' | 'bwrap'> {
  if (wish === 'none') return wish
  if (await hasBwrap()) return 'bwrap'
  if (wish === 'auto') return 'none'
  throw new CausewayError(
    'SANDBOX_UNAVAILABLE',
    'bubblewrap is not installed, or may not make namespaces here',
  )
}

/** Makes room by ending the session that has been left alone longest; throws `TOO_MANY_SESSIONS` where all are in use. */
async function makeRoom(critic: Critic, request: string): Promise<void> {
  const open = await critic.store.sessions()
  if (open.length < mostSessions) return
  const idle = open
    .filter(({ id, updated_ms }) => !critic.running.has(id) && critic.now() - updated_ms > idleMs)
    .toSorted((a, b) => a.updated_ms - b.updated_ms)
  const [oldest] = idle
  if (oldest === undefined)
    throw new CausewayError('TOO_MANY_SESSIONS', `${open.length} sessions are open`, {
      data: { sessions: open.map(({ id, config }) => ({ sid: id, repo: config.project })) },
    })
  await endSession(critic, oldest, { request: `${request} for room`, answer: { ok: true } })
}

async function statuses({ repo, signals }: SessionConfig) {
  const found = await Promise.all(
    signals.map(
      async ({ name, command: text }) =>
        [name, { command: text, status: await commandStatus(repo, text) }] as const,
    ),
  )
  return Object.fromEntries(found)
}
