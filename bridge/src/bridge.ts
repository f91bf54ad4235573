import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { CausewayError, formatErrorText } from '@causeway/protocol'
import { Autostart } from './autostart/autostart.ts'
import { createUnreachableError } from './calls/answer.ts'
import { Delivery } from './calls/delivery.ts'
import { Forwarder } from './calls/forwarder.ts'
import { PendingCalls } from './calls/pending-calls.ts'
import { Relay } from './calls/relay.ts'
import { Stats } from './calls/stats.ts'
import { Backpressure } from './http/backpressure.ts'
import { ServerMonitor } from './http/server-monitor.ts'
import type { Log } from './lifecycle/debug-log.ts'
import { handleProcessEvents, Shutdown } from './lifecycle/shutdown.ts'
import { findProject, Identity } from './session/identity.ts'
import { Session } from './session/session.ts'
import type { Settings } from './settings/settings.ts'
import { openFeatures } from './stages/features.ts'
import { chain } from './stages/stage.ts'
import { readLines } from './stdio/lines.ts'
import { Output } from './stdio/output.ts'
import { version } from './version.ts'

interface Environment {
  readonly program: URL
  readonly log: Log
  readonly warn: (text: string) => void
}

/**
 * Parallel scavenging costs more than it saves, and optimizing undici's WebAssembly parser costs 13 MB (measured).
 * `growYoungGeneration` raises the growth factor later. The last flag optimizes functions after fewer calls; its equivalent in
 * Node 20 limits the executed bytecode instead.
 */
const v8Flags = [
  '--semi-space-growth-factor=1',
  '--no-parallel-scavenge',
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  process.versions.node.startsWith('20.')
    ? '--interrupt-budget=20000'
    : '--invocation-count-for-turbofan=1000',
]

/** A lower limit causes up to four times as many garbage collections. V8's maximum uses 130 MB more (measured). */
const maxYoungBytes = 8 * 1024 * 1024

/** Observing garbage collections earlier would slow down the start. */
const growDelayMs = 1000

/** Lets the young generation grow to `maxYoungBytes`. V8 reads its size options only at process start. */
function growYoungGeneration(): void {
  const observer = new PerformanceObserver(() => {
    const newSpace = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    if (newSpace === undefined || newSpace.space_size < maxYoungBytes) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ type: 'gc' })
  setFlagsFromString('--semi-space-growth-factor=2')
}

/** Starts relaying messages between stdio and the server. Exits the process when the client is gone. */
export async function startBridge(settings: Settings, { program, log, warn }: Environment): Promise<void> {
  const { stdin, stdout } = process
  const { url } = settings
  const now = (): number => performance.now()
  const warnUnreachable = (error: unknown): void => warn(formatErrorText(createUnreachableError(url, error)))
  const monitor = new ServerMonitor({ now, onUnreachable: settings.autostart ? undefined : warnUnreachable })
  const output = new Output(stdout)
  const project = findProject(url, process.cwd())
  const identity = new Identity(
    settings.session ?? crypto.randomUUID(),
    crypto.randomUUID().slice(0, 8),
    project,
  )
  const { upstream, stages } = await openFeatures(settings, {
    env: process.env,
    identity: identity.fields,
    backpressure: new Backpressure({ output }),
    onResponse: () => monitor.markResponsive(),
    log,
    warn,
  })
  const autostart = settings.autostart ? new Autostart(settings, program, log) : undefined
  const retry = { url, budgetMs: settings.waitMs, monitor, autostart, now, random: Math.random }
  const stats = new Stats(now)
  const handlers = chain([stats.stage, ...stages], {
    toServer: (line) => relay.receive(line),
    toClient: (json) => output.write(json),
  })
  const calls = new PendingCalls(stats)
  const { maxMessageBytes } = upstream
  const delivery = new Delivery({ calls, write: handlers.toClient, maxMessageBytes, log })
  const link = { upstream, delivery, retry, log }
  const session = new Session({ ...link, onReady: () => stats.countSession() })
  const forwarder = new Forwarder({ ...link, session, identity, warn })
  const onFull = (isFull: boolean): void => void (isFull ? stdin.pause() : stdin.resume())
  const relay = new Relay({ calls, forwarder, session, delivery, onFull, log })

  const printStats = (): void => warn(stats.format(calls.listIds()))
  const shutdown = new Shutdown({
    relay,
    session,
    upstream,
    output,
    findError() {
      const { failure } = monitor
      if (failure !== undefined) monitor.report(failure.error)
      return failure && createUnreachableError(url, failure.error, { waitedMs: failure.sinceMs })
    },
    exit(code) {
      if (settings.stats) printStats()
      process.exit(code)
    },
    log,
  })
  const end = (reason: string, graceMs: number, code = 0): void => {
    stdin.destroy()
    void shutdown.begin(reason, graceMs, code)
  }
  const onCrash = (error: Error): void => {
    warn(`uncaught: ${error.stack}`)
    const remedy = 'call again; report it if it repeats'
    relay.failAll(new CausewayError('INTERNAL', 'the bridge failed', { remedy }))
  }
  handleProcessEvents({ end, printStats, onCrash })
  // Set after the imports, because V8's code cache of Node's modules is valid only for the initial flags.
  for (const flag of v8Flags) setFlagsFromString(flag)
  setTimeout(growYoungGeneration, growDelayMs).unref()
  void output.closed.then(() => end('the client closed standard output', 0))
  readLines(stdin, handlers.toServer).then(
    async () => {
      if (autostart === undefined && relay.isIdle) await monitor.check(upstream)
      end('end of input', settings.drainMs)
    },
    (error: unknown) => end(`reading standard input failed: ${error}`, 0),
  )
  // A person who starts the bridge by hand sends no message that would reveal an unreachable server.
  if (stdin.isTTY && autostart === undefined) void monitor.check(upstream)
  log(`version ${version}, server ${url}, session ${Object.values(identity.fields)[0]}`)
}
