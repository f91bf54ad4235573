/** What the doctor asks of the settings and of the server that runs with them. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { asCausewayError } from '@causeway/protocol'
import { openTokens } from '../access/token-file.ts'
import { type Config, settings } from '../config.ts'
import { portInUse } from '../port-in-use.ts'
import { addCommand, grantsOf } from '../roots.ts'
import { findRunning } from '../running.ts'
import { version } from '../version.ts'
import { askHealth } from './ask-server.ts'
import { type Bridge, isPassing } from './bridge-program.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** The server of the data folder, or the port that it would take. */
export async function serverChecks({ dataDir, tokenFile, host, port }: Config): Promise<readonly Check[]> {
  const found = findRunning(dataDir)
  if (found.state !== 'running') return [await portCheck(host, port)]
  const { server } = found
  const answer = await askHealth(server.url, server.token_file ?? tokenFile)
  const age =
    server.version === version
      ? []
      : [
          warn(
            'version',
            `the server that runs is ${server.version}, this program is ${version}`,
            'causeway stop, then start it again',
          ),
        ]
  if (answer.kind === 'report' && answer.report.status === 'ok')
    return [ok('server', `runs at ${server.url}, pid ${server.pid}`), ...age]
  if (answer.kind === 'report') {
    const ill = Object.entries(answer.report.apps).filter(([, { status }]) => status !== 'ok')
    const text = ill.map(([name, { message }]) => `${name}: ${message ?? 'not well'}`).join('; ')
    return [warn('server', `${answer.report.status}: ${text}`, 'see causeway logs'), ...age]
  }
  if (answer.kind === 'unauthorized')
    return [warn('server', 'it refuses its own token', 'correct the token file; a change counts at once')]
  return [fail('server', `pid ${server.pid} does not answer at ${server.url}`, 'see causeway logs'), ...age]
}

/** Whether a server could listen. */
async function portCheck(host: string, port: number): Promise<Check> {
  const listener = createServer()
  try {
    listener.listen({ host, port })
    await once(listener, 'listening')
    return ok('port', port === 0 ? 'chosen by the system' : `${port} is free; no server runs`)
  } catch (error) {
    const { message, remedy } = asCausewayError(await portInUse(error, port))
    return fail('port', message, remedy)
  } finally {
    listener.close()
  }
}

/** The tokens that callers must show. */
export function tokenCheck({ tokenFile }: Pick<Config, 'tokenFile'>): Check {
  if (tokenFile === undefined) return ok('tokens', 'none wanted: every program of this machine may call')
  try {
    openTokens(tokenFile, { log: { error: () => {}, info: () => {} } })
    return ok('tokens', tokenFile)
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    return fail('tokens', message, remedy)
  }
}

/** Whether the folders exist that apps may read. */
export function rootsCheck(config: Config): Check {
  const variables = Object.values(settings).map(({ env }) => env)
  const rootSettings = variables.filter((env) => env.endsWith('_ROOTS'))
  const grants = rootSettings.flatMap((rootsSetting) => grantsOf({ rootsSetting }, config))
  const folders = new Set(grants.map(({ folder }) => folder))
  const missing = grants.find(({ folder }) => !existsSync(folder))
  if (missing === undefined) return ok('roots', [...folders].join(', '))
  return warn(
    'roots',
    `there is no folder ${missing.folder}`,
    missing.by === addCommand
      ? `make it, or: causeway roots remove ${missing.folder}`
      : `make it, or take it out of ${missing.by}`,
  )
}

/** The bridge that clients start. */
export function bridgeCheck(bridge: Bridge | undefined): Check {
  const fix = `npm install --global @causeway/bridge@${version}`
  if (bridge === undefined) return warn('bridge', 'there is none beside this server', fix)
  if (isPassing(bridge.program))
    return warn('bridge', `${bridge.version}, in a folder that npm empties when it likes`, fix)
  if (bridge.version !== version)
    return warn('bridge', `${bridge.version}, this server is ${version}: ${bridge.program}`, fix)
  return ok('bridge', `${bridge.version}, ${bridge.program}`)
}
