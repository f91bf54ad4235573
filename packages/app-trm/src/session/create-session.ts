import { stat } from 'node:fs/promises'
import { CausewayError } from '@causeway/protocol'
import { chooseStricter, type SandboxLevel } from '../domain/command/sandbox.ts'
import { createStanding } from '../domain/evaluation/score.ts'
import { createConfig, type SessionConfig, type SessionRequest } from '../domain/session-config.ts'
import { TrmError } from '../errors.ts'
import { type DetectedCommands, detectCommands } from '../evaluation/detect.ts'
import { hasBwrap } from '../runner/run-command.ts'
import { createWorkspace } from '../workspace/workspace.ts'
import type { Critic } from './critic.ts'
import { endSession } from './end-session.ts'

const maxSessions = 50
/** Idle milliseconds after which a new session may replace a session. */
const idleMs = 7 * 86_400_000

interface CreateRequest {
  readonly repo: string
  readonly notes: string
  readonly preflight: boolean
  readonly holder: unknown
  readonly request: string
  readonly config: SessionRequest
  readonly warnings: readonly string[]
}

/** Throws `TRM_OFF`, `OUTSIDE_ROOTS`, `COMMAND_REFUSED`, `SANDBOX_UNAVAILABLE`, `TOO_MANY_SESSIONS`. */
export async function createSession(critic: Critic, options: CreateRequest) {
  const { config: sessionRequest, notes, request } = options
  if (critic.policy.roots.folders().length === 0)
    throw new TrmError('TRM_OFF', 'no folder is configured in which Trm may run commands')
  const sandbox = await chooseSandbox(chooseStricter(sessionRequest.options.sandbox, critic.policy.sandbox))
  const project = await resolveProject(critic, options.repo)
  const config = createConfig(project, sessionRequest, sandbox)
  checkCommands(critic, config, { holder: options.holder, detected: await detectCommands(project) })
  if (options.preflight) critic.store.checkIdle(project)
  const id = critic.newId()
  const answer = { sessionId: id, warnings: options.warnings }
  while (!(await critic.store.reserveSession(id, maxSessions))) await endIdleSession(critic, id)
  try {
    const repo = config.write === 'end' ? await createWorkspace(critic, project, id) : project
    const start = await snapshotStart(critic, repo, config.isolate)
    const row = { id, config: { ...config, repo }, standing: createStanding(notes), start }
    await critic.store.createSession(row, { id: request, answer })
  } finally {
    critic.store.releaseSession(id)
  }
  return answer
}

/** Returns `null` for a project that is too large, or throws if the session is isolated. */
async function snapshotStart({ snapshots }: Critic, repo: string, isolate: boolean): Promise<string | null> {
  try {
    return await snapshots.takeAll(repo)
  } catch (error) {
    if (!isolate && TrmError.is(error, 'SNAPSHOT_TOO_LARGE')) return null
    throw error
  }
}

async function resolveProject({ policy }: Critic, repo: string): Promise<string> {
  let folder: string
  try {
    folder = await policy.roots.resolve(repo)
  } catch (error) {
    if (!CausewayError.is(error, 'OUTSIDE_ROOTS')) throw error
    // The general remedy adds a folder for reading, which does not help here.
    throw new CausewayError('OUTSIDE_ROOTS', error.message, {
      remedy: 'add its folder to CAUSEWAY_TRM_ROOTS and start the server again',
      data: error.data,
    })
  }
  if ((await stat(folder)).isDirectory()) return folder
  throw new CausewayError('DIRECTORY_NOT_FOUND', `not a folder: ${repo}`, { data: { path: repo } })
}

function checkCommands(
  { policy: { commands: allowed, trusted } }: Critic,
  { signals }: SessionConfig,
  { holder, detected }: { readonly holder: unknown; readonly detected: DetectedCommands },
): void {
  if (allowed === 'any' || (holder !== undefined && trusted.has(holder))) return
  const detectedCommands = Object.values(detected)
  const isAllowed = (command: string): boolean =>
    allowed === 'detected'
      ? detectedCommands.includes(command)
      : new RegExp(`^(?:${allowed})$`, 's').test(command)
  const refusedSignal = signals.find(({ command }) => !isAllowed(command))
  if (refusedSignal === undefined) return
  throw new TrmError('COMMAND_REFUSED', `the server does not allow this command: ${refusedSignal.command}`, {
    data: {
      signal: refusedSignal.name,
      policy: allowed,
      allowed: allowed === 'detected' ? detected : allowed,
    },
  })
}

async function chooseSandbox(level: SandboxLevel): Promise<'none' | 'bwrap'> {
  if (level === 'none') return level
  if (await hasBwrap()) return 'bwrap'
  if (level === 'auto') return 'none'
  throw new TrmError('SANDBOX_UNAVAILABLE', 'bubblewrap is not installed, or cannot create namespaces')
}

async function endIdleSession(critic: Critic, newId: string): Promise<void> {
  const sessions = await critic.store.listSessions()
  const [oldestSession] = sessions
    .filter(({ id, updated_ms }) => !critic.running.has(id) && critic.now() - updated_ms > idleMs)
    .toSorted((a, b) => a.updated_ms - b.updated_ms)
  if (oldestSession === undefined)
    throw new TrmError('TOO_MANY_SESSIONS', `${maxSessions} sessions are open or being started`, {
      data: { sessions: sessions.map(({ id, config }) => ({ sid: id, repo: config.project })) },
    })
  try {
    await endSession(critic, oldestSession, { id: `room for ${newId}`, answer: { ok: true } })
  } catch (error) {
    // Another call ended or changed the session first.
    if (!TrmError.is(error, 'SESSION_BUSY')) throw error
  }
}
