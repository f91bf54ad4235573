#!/usr/bin/env node
import { randomBytes, randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { CausewayError, errorText, isCausewayError } from '@causeway/protocol'
import { createAwaitServer } from './absence.ts'
import { openAutostart } from './autostart.ts'
import { Calls } from './calls.ts'
import { type Log, noLog, openDebugLog } from './debug-log.ts'
import { createDeliver } from './deliver.ts'
import { createEnd } from './ending.ts'
import { openFeatures } from './features.ts'
import { createFlow } from './flow.ts'
import { createForward } from './forward.ts'
import type { Fields } from './headers.ts'
import { createIdentity } from './identity.ts'
import { createKnownServer } from './known-server.ts'
import { createKnownTools } from './known-tools.ts'
import { LineSplitter } from './lines.ts'
import { createListener } from './listen.ts'
import { orOlderServer } from './older-server.ts'
import { createOutput, type Output } from './output.ts'
import { watchParent } from './parent.ts'
import { createPost } from './post.ts'
import { createPulse } from './pulse.ts'
import { createQuestions } from './questions.ts'
import { createRelay } from './relay.ts'
import { createResume } from './resume.ts'
import { createSession, type Session } from './session.ts'
import { readSettings, type Settings } from './settings.ts'
import { chain } from './stage.ts'
import { createSubscriptions } from './subscription.ts'
import { createUpstream } from './upstream.ts'
import { usage } from './usage.ts'
import { version } from './version.ts'
import { createWaiting, type Waiting } from './wait.ts'

async function main(): Promise<void> {
  try {
    const command = readSettings(process.argv.slice(2), process.env)
    if (command === 'help') process.stdout.write(usage)
    else if (command === 'version') process.stdout.write(`${version}\n`)
    else if (command.doctor) process.exitCode = await doctor(command)
    else if (command.replay !== undefined) await replay(command.replay)
    else await run(command)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    warn(errorText(error))
    process.exitCode = 2
  }
}

/** Joins the parts, from the client on the left to the server on the right, and lives until one of them ends. */
async function run(settings: Settings): Promise<void> {
  setFlagsFromString(smallNursery)
  const { stdin, stdout } = process
  const log = settings.debug ? openLog() : noLog
  const identity = createIdentity(settings.session ?? randomUUID(), randomBytes(4).toString('hex'))
  const limit = settings.maxLine || Number.POSITIVE_INFINITY
  const calls = new Calls()

  const features = await openFeatures(settings, { env: process.env, log, warn, now: () => performance.now() })

  const client = createOutput(stdout, () => end('the client closed its end', 0))
  const ends = chain(features.stages, { toServer: (line) => relay.receive(line), toClient: client.write })
  const output: Output = { ...client, write: ends.toClient }
  const pulse = createPulse(() => performance.now())
  const flow = createFlow({ output, allowance: gatheredBytes, patienceMs: stalledMs })
  const fields = (): Fields => ({ ...features.fields(), ...identity.fields })
  const current = createUpstream({
    url: settings.url,
    connections: features.connections,
    fields,
    flow,
    onAnswer: pulse.beat,
  })
  const upstream = orOlderServer(features.watch(current, fields), { limit, log })
  const autostart = settings.autostart ? openAutostart(settings, log) : undefined
  const startWaiting = (): Waiting =>
    createWaiting({
      budgetMs: settings.waitMs,
      now: () => performance.now(),
      pulse,
      random: Math.random,
    })
  const awaitServer = createAwaitServer(settings.url, autostart)
  const server = createKnownServer(version, warn)
  const tools = createKnownTools()
  const questions = createQuestions()
  const session: Session = createSession({
    upstream,
    questions,
    onReady: () => {
      features.stats.sessionOpened()
      listener.start()
    },
    startWaiting,
    awaitServer,
    now: () => performance.now(),
    log,
  })
  const deliver = createDeliver({
    calls,
    questions,
    output,
    limit,
    onResult: (message, headers, result) => {
      if (message.method === 'tools/list') return tools.learn(result)
      server.learn(result)
      if (message.method === 'initialize' && message.claimed === undefined)
        session.adopt(message, headers, result)
    },
    log,
  })
  const announce = (): void => {
    for (const notice of session.takeNotices()) output.write(notice)
  }
  const listener = createListener({
    upstream,
    session: () => session,
    limit,
    onEvent: (event) => deliver.event(event, {}),
    announce,
    awaitAnswer: async (ms) => void (await pulse.next(ms)),
    random: Math.random,
    log,
  })
  const subscriptions = createSubscriptions({
    deliver,
    pause: async (ms, isAway) => void (await (isAway ? pulse.next(ms) : sleep(ms))),
    random: Math.random,
    now: () => performance.now(),
    log,
  })
  const forward = createForward({
    upstream,
    post: createPost({
      upstream,
      deliver: subscriptions.deliver,
      limit,
      startWaiting,
      awaitServer,
      mayStart: subscriptions.mayStart,
      log,
    }),
    resume: createResume({ upstream, deliver, limit, startWaiting, random: Math.random, log }),
    subscriptions,
    session,
    server,
    tools,
    deliver,
    announce,
    identity,
    limit,
    startWaiting,
    promised: () => sleep(promisedMs),
    log,
  })
  const relay = createRelay({
    calls,
    forward,
    session,
    questions,
    deliver,
    output,
    onFull: (isFull) => (isFull ? stdin.pause() : stdin.resume()),
    later: (then) => void setTimeout(then, lingerMs).unref(),
    log,
  })
  const exit = (code: number): void => {
    if (settings.stats) warn(features.stats.line())
    process.exit(code)
  }
  const finish = createEnd({ relay, listener, session, upstream, output, log, exit })
  const end = (reason: string, graceMs: number, code = 0): void => {
    const error = new CausewayError('SHUTTING_DOWN', 'the bridge ended before the answer came')
    stdin.destroy()
    void finish({ reason, graceMs, code, error })
  }

  const lines = new LineSplitter()
  stdin.on('data', (chunk: Buffer) => lines.push(chunk).forEach(ends.toServer))
  stdin.once('end', () => {
    lines.end().forEach(ends.toServer)
    end('end of input', settings.drainMs)
  })
  stdin.once('error', (error) => end(`input failed: ${error}`, 0))

  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, (_name: string, number: number) => {
      signals += 1
      if (signals > 1) process.exit(128 + number)
      end(signal, signalGraceMs)
    })
  // Windows has no such signal.
  if (process.platform !== 'win32') process.on('SIGUSR2', () => warn(features.stats.line()))
  watchParent(() => end('the parent process is gone', signalGraceMs), parentPollMs)
  process.on('uncaughtException', (error) => {
    // The client's log is where a person looks first.
    warn(`uncaught: ${error.stack}`)
    relay.failAll(
      new CausewayError('INTERNAL', 'the bridge failed', { remedy: 'call again; report it if it repeats' }),
    )
    end('uncaught exception', 0, 1)
  })
  log(`version ${version}, server ${settings.url}, session ${Object.values(identity.fields)[0]}`)
}

/** A client waits two seconds between SIGTERM and SIGKILL; half of it is for the calls. */
const signalGraceMs = 1000

/** So long may the stream of a cancelled call stay open, in milliseconds. */
const lingerMs = 30_000

const parentPollMs = 2000

/** What unfinished answers may keep in memory together; a complete one goes to the client at once. */
const gatheredBytes = 16 * 1024 * 1024

/** So long may an answer pause, in milliseconds, before others that are held back for it go on. */
const stalledMs = 1000

/** SDK clients give up a request after this time. */
const promisedMs = 60_000

/** What a message leaves behind dies at once; space for more of it costs 130 MB on Node 24 and gains no time (measured). */
const smallNursery = '--semi-space-growth-factor=1'

/** Loaded only when asked for, as is everything that an ordinary run never needs. */
async function doctor(settings: Settings): Promise<number> {
  const { runDoctor } = await import('./doctor.ts')
  const [node = '', script = '', ...args] = process.argv
  const print = (text: string): void => void process.stdout.write(text)
  // A reader such as `head` has seen enough.
  process.stdout.on('error', () => process.exit(1))
  return runDoctor(settings, { started: { node, script, args, env: process.env }, debugLog, print })
}

async function replay(path: string): Promise<void> {
  const [{ replayTraffic }, { readTraffic }] = await Promise.all([
    import('./replay.ts'),
    import('./traffic.ts'),
  ])
  await replayTraffic(readTraffic(path), process.stdin, process.stdout)
}

/** Tells the person who starts the bridge; clients show or keep what stands on standard error. */
function warn(text: string): void {
  process.stderr.write(`causeway-bridge: ${text}\n`)
}

const debugLog = join(tmpdir(), 'mcp_wrapper.log')

function openLog(): Log {
  try {
    return openDebugLog(debugLog, { pid: process.pid, now: () => new Date() })
  } catch (error) {
    warn(`no debug log: ${error}`)
    return noLog
  }
}

await main()
