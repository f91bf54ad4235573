import { lstatSync } from 'node:fs'
import { asCausewayError } from '@causeway/protocol'
import { openConnections } from '../http/connections.ts'
import { openCredentials } from '../http/credentials.ts'
import { sendRequest } from '../http/send-request.ts'
import { resolveTarget } from '../http/target.ts'
import { addFields, createUpstream, type Upstream } from '../http/upstream.ts'
import { noLog } from '../lifecycle/debug-log.ts'
import type { Settings } from '../settings/settings.ts'
import { isPrivateFile } from '../stages/private-files.ts'
import { version } from '../version.ts'
import { type Check, fail, formatCheck, ok, warn } from './check.ts'
import { type BridgeProcess, formatClientCommands } from './client-lines.ts'
import { explainUnreachable, mayStartLater } from './connection-errors.ts'
import { checkHealth, checkProtocol, timeoutMs } from './server-checks.ts'

interface DoctorOptions {
  readonly started: BridgeProcess
  readonly debugLog: string
  readonly print: (text: string) => void
}

export async function runDoctor(
  settings: Settings,
  { started, debugLog, print }: DoctorOptions,
): Promise<0 | 1> {
  print(`causeway-bridge ${version}, Node ${process.versions.node}\n\n`)
  let failures = 0
  for await (const check of runChecks(settings, { debugLog, env: started.env })) {
    print(formatCheck(check))
    if (check.state === 'fail') failures += 1
  }
  print(`\n${formatClientCommands(started)}`)
  print(failures === 0 ? '\nNo problems found.\n' : `\n${failures} failed; see the lines with ->.\n`)
  return failures === 0 ? 0 : 1
}

/** Upstream options that only the relay needs. */
const ignoredEvents = { maxMessageBytes: 0, backpressure: { update() {}, end() {} }, onResponse() {} }

async function* runChecks(
  settings: Settings,
  { debugLog, env }: { debugLog: string; env: NodeJS.ProcessEnv },
): AsyncGenerator<Check> {
  const { url, credentials, connection } = settings
  yield ok('url', String(url))
  yield checkDebugLog(debugLog)
  let upstream: Upstream
  try {
    const fields = openCredentials(credentials, noLog)
    const names = Object.keys(fields())
    if (names.length > 0) yield ok('headers', `${names.join(', ')} sent with every request`)
    const connections = await openConnections(resolveTarget(url), connection, env)
    upstream = addFields(createUpstream({ url, connections, ...ignoredEvents }), fields)
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    yield fail('settings', message, remedy)
    return
  }
  try {
    const request = { method: 'GET', path: '/health', fields: { accept: 'application/json' } } as const
    const health = await sendRequest(upstream, request, timeoutMs)
    yield ok('reachable', connection.proxy === undefined ? 'yes' : 'yes, through the proxy')
    yield* checkHealth(health.reply)
    yield* await checkProtocol(upstream, settings.maxLine)
  } catch (error) {
    if (settings.autostart && mayStartLater(error))
      yield ok('reachable', 'no server is running; the first call starts one (--autostart)')
    else yield explainUnreachable(error, connection.proxy, env)
  } finally {
    await upstream.destroy()
  }
}

function checkDebugLog(path: string): Check {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return ok('debug log', `${path}, written if DEBUG=true`)
  if (isPrivateFile(stat)) return ok('debug log', `${path}, ${stat.size} bytes`)
  return warn(
    'debug log',
    `not a private file of this user: ${path}`,
    'delete it; until then no log is written',
  )
}
