import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CausewayError } from '@causeway/protocol'
import { lowerGroupPriority } from '@causeway/worker'
import { createLimitCommands } from '../domain/command/sandbox.ts'
import { Capture, type CapturedOutput } from './capture.ts'
import {
  createMark,
  killMarkedProcesses,
  markerName,
  type ProcessMark,
  signalGroup,
} from './process-group.ts'

export interface CommandOptions {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Program and arguments of a sandbox, which precede the command. */
  readonly sandbox?: readonly string[] | undefined
  /** Unique for an evaluation. All of its processes have the marker in their environment. */
  readonly marker: string
  readonly signal: AbortSignal
  /** Called once, after the process starts. */
  readonly onStart?: (mark: ProcessMark) => Promise<void>
}

export interface CommandResult {
  /** `null` if a signal ended the command. */
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly ms: number
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
}

/** Milliseconds between SIGTERM and SIGKILL, and for reading the rest of the pipes. */
const [graceMs, drainMs] = [2000, 1000]

/**
 * A watcher in the command's group reads a pipe. If the server is killed, the pipe closes and the watcher kills the
 * group. The watcher uses only shell built-ins, because the command's PATH may not contain any program.
 */
const watcherScript = '(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec 3<&-; '

/**
 * Runs a command until it exits, times out or is cancelled, and kills all of its processes. Throws
 * `INVALID_ARGUMENTS` if the command or `env` is too long.
 */
export async function runCommand(run: CommandOptions): Promise<CommandResult> {
  const { command, cwd, env, timeoutMs, sandbox = [], marker, signal, onStart } = run
  const startedMs = performance.now()
  const streams = { stdout: new Capture(), stderr: new Capture() }
  const state = { timedOut: false, cancelled: false }
  const script = `${watcherScript}${createLimitCommands(timeoutMs / 1000, availableParallelism())}exec "$@"`
  const child = startShell(['-c', script, 'sh', ...sandbox, '/bin/sh', '-c', command], {
    cwd,
    env: { ...env, [markerName]: marker },
  })
  lowerGroupPriority(child)
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => streams[name].add(chunk))
  for (const pipe of child.stdio) pipe?.on('error', () => {}) // the exit code reports a broken pipe

  const stop = (cause: 'timedOut' | 'cancelled') => (): void => {
    if (state.timedOut || state.cancelled) return
    state[cause] = true
    void endGroup(child)
  }
  const timer = setTimeout(stop('timedOut'), timeoutMs)
  const cancel = stop('cancelled')
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const exitPromise = waitForExit(child)
    if (child.pid !== undefined) await onStart?.(createMark(child.pid))
    const exitCode = await exitPromise
    await cleanUp(child, marker)
    return {
      exitCode: state.timedOut || state.cancelled ? null : exitCode,
      ...state,
      ms: Math.round(performance.now() - startedMs),
      stdout: streams.stdout.finish(),
      stderr: streams.stderr.finish(),
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

function startShell(args: readonly string[], options: Pick<CommandOptions, 'cwd' | 'env'>): ChildProcess {
  try {
    return spawn('/bin/sh', args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'E2BIG') throw error
    throw new CausewayError('INVALID_ARGUMENTS', 'the command or its variables are too long for the system', {
      remedy: 'put long commands into a script, and long values into a file',
      cause: error,
    })
  }
}

/** Returns the exit code, `null` after a signal, or 127 without a shell. Other processes may still hold the pipes. */
async function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? code : null
  } catch {
    return 127
  }
}

async function endGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  await sleep(graceMs, undefined, { ref: false })
  signalGroup(pid, 'SIGKILL')
}

async function cleanUp(child: ChildProcess, marker: string): Promise<void> {
  const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null && !pipe.readableEnded)
  const pipesEnded = Promise.all(pipes.map((pipe) => pipe && once(pipe, 'end').catch(() => undefined)))
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  await killMarkedProcesses(marker)
  await Promise.race([pipesEnded, sleep(drainMs, undefined, { ref: false })])
  for (const pipe of child.stdio) pipe?.destroy()
}

/** Long enough for the check on a busy machine. */
const bwrapTimeoutMs = 10_000

/** Whether bubblewrap is installed and can create namespaces. */
export async function hasBwrap(): Promise<boolean> {
  const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc']
  const args = [...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--', 'true']
  try {
    await promisify(execFile)('bwrap', args, { timeout: bwrapTimeoutMs })
    return true
  } catch {
    return false
  }
}
