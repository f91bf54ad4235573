import { asCausewayError } from '@causeway/protocol'
import { openConnections } from '../connections.ts'
import { openCredentials } from '../credentials.ts'
import { noLog } from '../debug-log.ts'
import type { Settings } from '../settings.ts'
import { targetOf } from '../target.ts'
import { type Check, fail, ok } from './check.ts'
import { debugLogCheck } from './debug-place.ts'
import { examineEras } from './eras.ts'
import { healthChecks } from './health.ts'
import { createProbe, type Probe } from './probe.ts'
import { startsLater, whyUnreachable } from './reach.ts'

/** Looks at everything between this machine and an answer of the server, each thing as soon as it is known. */
export async function* examine(
  settings: Settings,
  { debugLog, env }: { debugLog: string; env: NodeJS.ProcessEnv },
): AsyncGenerator<Check> {
  yield ok('url', String(settings.url))
  yield debugLogCheck(debugLog)
  let probe: Probe
  try {
    const fields = openCredentials(settings.credentials, noLog)
    const names = Object.keys(fields())
    if (names.length > 0) yield ok('headers', `${names.join(', ')} set for every request`)
    probe = createProbe(
      settings.url,
      await openConnections(targetOf(settings.url), settings.connection, env),
      fields,
    )
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    yield fail('settings', message, remedy)
    return
  }
  try {
    const health = await probe.get('/health')
    yield ok('reachable', settings.connection.proxy === undefined ? 'yes' : 'yes, through the proxy')
    yield* healthChecks(health)
    yield* await examineEras(probe, settings.maxLine)
  } catch (error) {
    const later = settings.autostart ? startsLater(error) : undefined
    yield later ?? whyUnreachable(error, settings.connection.proxy, env)
  } finally {
    await probe.close()
  }
}
