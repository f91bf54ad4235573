/** Running one command of a project: a group of its own, a limit that holds, output in bounded memory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../domain/sandbox.ts'
import { type Captured, capture } from './capture.ts'
import { endMarked, markerName, markOf, type ProcessMark, signalGroup } from './process-group.ts'

/** What to run. */
export interface CommandRun {
  /** for `/bin/sh -c` */
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** a command line that runs the one after it: a sandbox; none where it is left out */
  readonly within?: readonly string[] | undefined
  /** unique among all evaluations; carried by every process */
  readonly marker: string
  readonly signal: AbortSignal
  /** called once with the process, before anything of its output is read */
  readonly onStart?: (mark: ProcessMark) => Promise<void>
  readonly onOutput?: (chunk: Buffer) => void
}

/** How it went. */
export interface CommandResult {
  /** null where it was ended, or could not be started */
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly ms: number
  readonly stdout: Captured
  readonly stderr: Captured
}

/** Time between the request to end and the end, and time for what is left in the pipes, ms. */
const [graceMs, drainMs] = [2000, 1000]

/**
 * A watcher in the command's own group reads a pipe from this process: when this process dies, however it dies, the
 * pipe ends and the watcher ends the group. It is the shell alone: a command's PATH may hold no program.
 */
const watched = '(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec 3<&-; '

/** Runs a command to its end, its limit or its cancellation; nothing that it started is left then. */
export async function runCommand(run: CommandRun): Promise<CommandResult> {
  const { command, cwd, env, timeoutMs, within = [], marker, signal, onStart, onOutput } = run
  const started = performance.now()
  const streams = { stdout: capture(), stderr: capture() }
  const state = { timedOut: false, cancelled: false }
  const script = `${watched}${limits(timeoutMs / 1000, availableParallelism())}exec "$@"`
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...within, '/bin/sh', '-c', command], {
    cwd,
    env: { ...env, [markerName]: marker },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => {
      streams[name].add(chunk)
      onOutput?.(chunk)
    })
  for (const pipe of child.stdio) pipe?.on('error', () => {}) // a broken pipe is told by the exit

  const stop = (why: 'timedOut' | 'cancelled') => (): void => {
    if (state.timedOut || state.cancelled) return
    state[why] = true
    void endGroup(child)
  }
  const timer = setTimeout(stop('timedOut'), timeoutMs)
  const cancel = stop('cancelled')
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const exit = ended(child)
    if (child.pid !== undefined) await onStart?.(markOf(child.pid))
    const exitCode = await exit
    await sweep(child, marker)
    const killed = state.timedOut || state.cancelled
    return {
      exitCode: killed ? null : exitCode,
      ...state,
      ms: Math.round(performance.now() - started),
      stdout: streams.stdout.end(),
      stderr: streams.stderr.end(),
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

/** The exit code of the shell, not of what holds its pipes; 127 where there is no shell. */
async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? code : null
  } catch {
    return 127
  }
}

/** SIGTERM to the group, SIGKILL to what is left of it. */
async function endGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  await pause(graceMs, undefined, { ref: false })
  signalGroup(pid, 'SIGKILL')
}

/** Ends what the command left behind, and lets the pipes run dry for as long as that may take. */
async function sweep(child: ChildProcess, marker: string): Promise<void> {
  const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null && !pipe.readableEnded)
  const dry = Promise.all(pipes.map((pipe) => pipe && once(pipe, 'end').catch(() => undefined)))
  // The watcher holds none of these pipes; it ends the group as soon as its own is closed.
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  await endMarked(marker)
  await Promise.race([dry, pause(drainMs, undefined, { ref: false })])
  for (const pipe of child.stdio) pipe?.destroy()
}
