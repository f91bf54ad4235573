import { type Registrar, readArguments } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import {
  formatConfig,
  haltSchema,
  listRemovedArguments,
  optionsSchema,
  requestSchema,
  type SessionConfig,
  weightsSchema,
} from '../domain/session-config.ts'
import { detectCommands, findCommandStatus, findEditableInstalls } from '../evaluation/detect.ts'
import { createSession } from '../session/create-session.ts'
import type { Critic } from '../session/critic.ts'
import { startStep } from '../session/start-step.ts'
import type { SessionRow } from '../store/rows.ts'
import {
  type ClientState,
  checkWith,
  createAliases,
  detailsArgument,
  formatDone,
  runOnce,
  type TrmContext,
  waitArgument,
  waitForResult,
  writeHints,
} from './tool-context.ts'

const createCommandArgument = (about: string) => z.string().optional().describe(about)

const createLooseArgument = (schema: z.ZodType, about: string) =>
  z.looseObject({}).check(checkWith(schema)).optional().describe(about)

const input = {
  repo: z.string().describe('Folder below CAUSEWAY_TRM_ROOTS'),
  dataQual: createCommandArgument('Data check'),
  test: createCommandArgument('Tests'),
  lint: createCommandArgument('Linter'),
  bench: createCommandArgument('Prints a number'),
  build: createCommandArgument('Build'),
  signals: z.array(z.unknown()).optional().describe('[{name, command, weight}]'),
  timeout: z.number().min(1).default(120).describe('Seconds per command'),
  weights: createLooseArgument(weightsSchema, '{dataQual .3, test .4, lint .1, perf .2, build 0}'),
  halt: createLooseArgument(haltSchema, '{max 12, threshold .95, patience 3, min 1}'),
  ema: z.number().min(0).max(1).default(0.9).describe('Weight of the newest score'),
  notes: z.string().optional().describe('Goal'),
  preflight: z.boolean().default(true).describe('Run a baseline'),
  options: createLooseArgument(
    optionsSchema,
    '{write: each|improved|end, isolate, link, copy, env, perf: {goal: min|max, repeat}, allowTestRemoval, failFast, protect: [tests|path], sandbox: auto|bwrap}',
  ),
  ...detailsArgument,
  ...waitArgument(50),
}

/** Argument names in the original design and its TypeScript version. */
const argumentAliases = {
  repoPath: 'repo',
  dataQualityCmd: 'dataQual',
  buildCmd: 'build',
  testCmd: 'test',
  lintCmd: 'lint',
  perfCmd: 'bench',
  benchCmd: 'bench',
  timeoutSec: 'timeout',
  emaAlpha: 'ema',
  zNotes: 'notes',
  'halt.maxSteps': 'halt.max',
  'halt.passThreshold': 'halt.threshold',
  'halt.patienceNoImprove': 'halt.patience',
  'halt.minSteps': 'halt.min',
  'weights.dataQuality': 'weights.dataQual',
  'weights.bench': 'weights.perf',
}

export function declareStartTool(app: Registrar<Critic, ClientState>): void {
  app.tool('start', {
    title: 'Start session',
    about: 'Start a session for a project. Returns score, failures and detected commands. Use it first.',
    searchHint: 'fix tests, improve code',
    hints: writeHints,
    aliases: createAliases('start', argumentAliases),
    input,
    output: {
      sessionId: z.string(),
      status: z.string(),
      config: z.unknown(),
      baseline: z.unknown(),
      summary: z.string(),
    },
    task: 'optional',
    isCore: true,
    alwaysLoad: true,
    example: { args: { repo: 'sums', test: 'python3 -m unittest', halt: { max: 8 } } },
    async run({ preflight, wait, details, notes = '', repo, ...configArguments }, ctx) {
      const { sessionId, warnings = [] } = await runOnce(ctx, 'start', async (request) => {
        const config = readArguments('start', requestSchema, configArguments)
        return createSession(ctx.store, {
          repo,
          notes,
          preflight,
          holder: ctx.holder,
          request,
          config,
          warnings: listRemovedArguments(config).map((name) => `${name} was removed and has no effect`),
        })
      })
      ctx.session.sid = sessionId
      return describeSession(ctx, sessionId, { preflight, wait, details, warnings })
    },
  })
}

interface StartOptions {
  readonly preflight: boolean
  readonly wait: number
  readonly details: boolean
  readonly warnings: readonly string[]
}

async function describeSession(ctx: TrmContext, sessionId: string, options: StartOptions) {
  const { preflight, wait, details } = options
  const session = await ctx.store.store.findSession(sessionId)
  if (session === undefined)
    throw new CausewayError('SESSION_NOT_FOUND', `the session has ended: ${sessionId}`)
  const { config } = session
  const detected = await detectCommands(config.project)
  const commands = await findCommandStatuses(config)
  const unavailableCommands = Object.entries(commands).filter(([, { status }]) => status === 'unavailable')
  const baseline = preflight ? await evaluateBaseline(ctx, session, { wait, details }) : null
  const tests = baseline?.tests ?? null
  const warnings = [
    ...options.warnings,
    ...unavailableCommands.map(
      ([name]) => `${name}: a program of the command was not found; it counts as failed`,
    ),
    ...(await warnEditable(config)),
    ...(config.signals.length === 0
      ? ['no command is configured, so every score is 0; start again with commands from detected']
      : []),
  ]
  const { repoPath, haltPolicy, ...otherConfig } = formatConfig(config)
  const commonFields = {
    sessionId,
    message: 'TRM session initialized',
    status: baseline?.status ?? 'ready',
    summary: `Session ${sessionId} on ${config.project}. ${baseline === null ? 'Nothing was evaluated yet.' : baseline.summary}`,
  }
  if (!details)
    return {
      ...commonFields,
      config: { repoPath, haltPolicy },
      baseline,
      ...(config.signals.length === 0 ? { detected } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  return {
    ...commonFields,
    config: { repoPath, haltPolicy, ...otherConfig },
    detected,
    commands,
    preflight: {
      repoExists: true,
      commandsAvailable: Object.fromEntries(
        Object.entries(commands).map(([name, { status }]) => [name, status !== 'unavailable']),
      ),
      initialTests: tests === null ? null : { success: tests.failed === 0, ...tests },
    },
    baseline,
    warnings,
  }
}

/** With an editable install, tests import the project, which does not contain the candidate before it lands. */
async function warnEditable({ project, write, isolate }: SessionConfig): Promise<readonly string[]> {
  const files = isolate && write !== 'each' ? await findEditableInstalls(project) : []
  return files.map(
    (file) =>
      `${file}: tests would import the project instead of the candidate; use write each, or install without -e`,
  )
}

async function evaluateBaseline(
  ctx: TrmContext,
  session: SessionRow,
  options: { readonly wait: number; readonly details: boolean },
) {
  const { store: critic, requestId } = ctx
  const steps = await critic.store.listSteps(session.id)
  const baselineStep = steps.find(({ kind, result }) => kind === 'baseline' && result !== null)
  if (baselineStep?.result) return formatDone(session, baselineStep.result, options.details)
  const request = { request: `start ${requestId}`, reason: null, isBaseline: true }
  const running = critic.running.get(session.id) ?? (await startStep(critic, session, request))
  return waitForResult(ctx, session, running, options)
}

async function findCommandStatuses({ repo, signals }: SessionConfig) {
  const statuses = await Promise.all(
    signals.map(async (signal) => {
      const status = await findCommandStatus(repo, signal.command)
      return [signal.name, { command: signal.command, status }] as const
    }),
  )
  return Object.fromEntries(statuses)
}
