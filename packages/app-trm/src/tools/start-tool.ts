/** Beginning a session. */
import { stat } from 'node:fs/promises'
import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Critic } from '../critic.ts'
import { commandStatus, type Detected, detect } from '../detect.ts'
import { freshStanding } from '../domain/score.ts'
import {
  type SessionConfig,
  type SessionRequest,
  sessionConfig,
  shownConfig,
} from '../domain/session-config.ts'
import { awaitStep, beginStep } from '../run-step.ts'
import type { SessionRow } from '../store.ts'
import {
  evaluationAnswer,
  named,
  once,
  progressOf,
  refuseOff,
  runningAnswer,
  started,
  type TrmContext,
  type TrmSession,
  waitArgument,
} from './shape.ts'

/** Most sessions that are open at once. */
const mostSessions = 50

const command = (what: string) => z.string().min(1).optional().describe(what)
const share = z.number().min(0).max(1)
const weight = z.number().min(0).max(1000).optional()

const input = {
  repo: z.string().min(1).describe('folder of the project, below CAUSEWAY_TRM_ROOTS'),
  dataQual: command('data check, exit 0 is good'),
  test: command('tests: pytest, unittest, node --test, TAP, jest, vitest, mocha'),
  lint: command('linters, exit 0 is good'),
  bench: command('benchmark that prints a number with its unit'),
  build: command('build, weight 0 unless given'),
  signals: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[A-Za-z][\w-]{0,39}$/),
        command: z.string().min(1),
        weight: z.number().min(0),
      }),
    )
    .max(10)
    .optional()
    .describe('further checks, exit 0 is good'),
  timeout: z.number().min(1).max(3600).default(120).describe('s for each command'),
  weights: z
    .strictObject({ dataQual: weight, test: weight, lint: weight, perf: weight, build: weight })
    .optional()
    .describe('default .3, .4, .1, .2, 0'),
  halt: z
    .strictObject({
      max: z.int().min(1).max(200).optional(),
      threshold: share.optional(),
      patience: z.int().min(1).optional(),
      min: z.int().min(1).optional(),
    })
    .optional()
    .describe('default max 12, threshold .95, patience 3, min 1'),
  ema: share.default(0.9).describe('weight of the newest score in emaScore'),
  notes: z.string().max(4000).optional().describe('what is wanted'),
  preflight: z.boolean().default(true).describe('evaluate the project as it is first: the baseline'),
  options: z
    .strictObject({
      write: z.enum(['each', 'improved']).optional(),
      isolate: z.boolean().optional(),
      link: z.array(z.string()).max(20).optional(),
      env: z.record(z.string(), z.string()).optional(),
      perf: z
        .strictObject({
          goal: z.enum(['min', 'max']).optional(),
          repeat: z.int().min(1).max(5).optional(),
          pattern: z.string().max(200).optional(),
          unit: z.string().optional(),
        })
        .optional(),
      allowTestRemoval: z.boolean().optional(),
    })
    .optional()
    .describe('see the README'),
  ...waitArgument(50),
}

/** Names of the originals, long ones of both. */
const otherNames = {
  repo_path: 'repo',
  repoPath: 'repo',
  data_quality_cmd: 'dataQual',
  dataQualityCmd: 'dataQual',
  build_cmd: 'build',
  buildCmd: 'build',
  test_cmd: 'test',
  testCmd: 'test',
  lint_cmd: 'lint',
  lintCmd: 'lint',
  perf_cmd: 'bench',
  perfCmd: 'bench',
  bench_cmd: 'bench',
  benchCmd: 'bench',
  timeout_sec: 'timeout',
  timeoutSec: 'timeout',
  ema_alpha: 'ema',
  emaAlpha: 'ema',
  z_notes: 'notes',
  zNotes: 'notes',
  'halt.max_steps': 'halt.max',
  'halt.maxSteps': 'halt.max',
  'halt.pass_threshold': 'halt.threshold',
  'halt.passThreshold': 'halt.threshold',
  'halt.patience_no_improve': 'halt.patience',
  'halt.patienceNoImprove': 'halt.patience',
  'halt.min_steps': 'halt.min',
  'halt.minSteps': 'halt.min',
  'weights.data_quality': 'weights.dataQual',
  'weights.dataQuality': 'weights.dataQual',
  'weights.bench': 'weights.perf',
}

/** Declares trm.start. */
export function startTool(app: Registrar<Critic, TrmSession>): void {
  app.tool('start', {
    about:
      'Begins to refine a project: candidates are judged by these commands. Runs them once for the baseline; changes no file.',
    hints: { destructive: false, openWorld: true },
    aliases: { ...named('start', otherNames) },
    input,
    output: {
      sessionId: z.string(),
      message: z.string(),
      status: z.string(),
      config: z.unknown(),
      detected: z.unknown(),
      commands: z.unknown(),
      baseline: z.unknown(),
      warnings: z.array(z.string()),
      summary: z.string(),
    },
    example: { args: started.args },
    async run({ preflight, wait, notes, options, repo, ...request }, ctx) {
      refuseOff(ctx.store)
      const { sessionId } = await once(ctx, 'start', async (key) => {
        const config = sessionConfig(await projectFolder(ctx.store, repo), {
          ...request,
          ...options,
        } as SessionRequest)
        const detected = await detect(config.repo)
        allow(ctx.store, config, detected)
        await refuseTooMany(ctx.store)
        const id = ctx.store.newId()
        const given = { sessionId: id }
        await ctx.store.store.createSession({ id, config, standing: freshStanding(notes ?? '') }, key, given)
        return given
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
  const detected = await detect(config.repo)
  const commands = await statuses(config)
  const missing = Object.entries(commands).filter(([, { status }]) => status === 'unavailable')
  const baseline = preflight ? await baselineOf(ctx, session, wait) : null
  const warnings = [
    ...missing.map(([name]) => `${name}: a program of the command was not found; it counts as failed`),
    ...(config.signals.length === 0 ? ['no command is given: every score is 0; see detected'] : []),
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
    summary: `Session ${sessionId} on ${config.repo}. ${baseline === null ? 'Nothing was run yet.' : baseline.summary}`,
  }
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

/** Holds the policy of the server; throws `COMMAND_REFUSED`. */
function allow({ commands }: Critic, { signals }: SessionConfig, detected: Detected): void {
  if (commands === 'any') return
  const known = Object.values(detected)
  const isAllowed = (text: string): boolean =>
    commands === 'detected' ? known.includes(text) : new RegExp(`^(?:${commands})$`, 's').test(text)
  const refused = signals.find((signal) => !isAllowed(signal.command))
  if (refused === undefined) return
  throw new CausewayError('COMMAND_REFUSED', `the server does not allow this command: ${refused.command}`, {
    data: { signal: refused.name, policy: commands, allowed: commands === 'detected' ? detected : commands },
  })
}

async function refuseTooMany({ store }: Critic): Promise<void> {
  const open = await store.sessions()
  if (open.length < mostSessions) return
  throw new CausewayError('TOO_MANY_SESSIONS', `${open.length} sessions are open`, {
    data: { sessions: open.map(({ id, config }) => ({ sid: id, repo: config.repo })) },
  })
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
