import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { asCausewayError } from '@causeway/protocol'
import { TokenFile } from '../../access/token-file.ts'
import { type Config, settings } from '../../config/config.ts'
import { addRootCommand, listGrants } from '../../config/roots.ts'
import { findServer, type ServerRecord } from '../../process/server-file.ts'
import { toPortError } from '../../process/start-errors.ts'
import { version } from '../../process/version.ts'
import { type Bridge, isInNpxCache } from '../clients/bridge-program.ts'
import { fetchHealth } from '../server-health.ts'
import { type Check, fail, ok, warn } from './check.ts'

export async function checkServer({ dataDir, tokenFile, host, port }: Config): Promise<readonly Check[]> {
  const serverState = findServer(dataDir)
  if (serverState.state !== 'running') return [await checkPort(host, port)]
  const { server } = serverState
  const health = await checkHealth(server, server.token_file ?? tokenFile)
  if (server.version === version) return [health]
  const text = `the running server is ${server.version}, this program is ${version}`
  return [health, warn('version', text, 'run causeway stop, then start the server again')]
}

async function checkHealth(server: ServerRecord, tokenFile: string | undefined): Promise<Check> {
  const result = await fetchHealth(server.url, tokenFile)
  if (result.kind === 'unauthorized')
    return warn(
      'server',
      'it rejects the first token of its token file',
      'correct the file; changes take effect immediately',
    )
  if (result.kind !== 'report')
    return fail(
      'server',
      `the server (pid ${server.pid}) does not answer at ${server.url}`,
      'see causeway logs, or restart it: causeway stop',
    )
  const { status, apps } = result.report
  if (status === 'ok') return ok('server', `running at ${server.url}, pid ${server.pid}`)
  const failed = Object.entries(apps).filter(([, { status }]) => status !== 'ok')
  const texts = failed.map(([name, { message }]) => `${name} failed: ${message ?? 'unknown reason'}`)
  const remedies = failed.flatMap(([, { remedy }]) => (typeof remedy === 'string' ? [remedy] : []))
  return warn(
    'server',
    texts.join('; ') || `its state is ${status}`,
    [...new Set(remedies)].join('; ') || 'see causeway status and causeway logs',
  )
}

async function checkPort(host: string, port: number): Promise<Check> {
  const listener = createServer()
  try {
    listener.listen({ host, port })
    await once(listener, 'listening')
    return ok(
      'port',
      port === 0
        ? 'chosen by the system'
        : `${port} is free: no server is running; start one: causeway serve`,
    )
  } catch (error) {
    const { message, remedy } = asCausewayError(await toPortError(error, port))
    return fail('port', message, remedy)
  } finally {
    listener.close()
  }
}

export function checkTokens({ tokenFile }: Pick<Config, 'tokenFile'>): Check {
  if (tokenFile === undefined) return ok('tokens', 'not required: every program on this computer may connect')
  try {
    new TokenFile(tokenFile, { log: { error: () => {}, info: () => {} } })
    return ok('tokens', tokenFile)
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    return fail('tokens', message, remedy)
  }
}

export function checkRoots(config: Config): Check {
  const grants = Object.values(settings)
    .filter(({ env }) => env.endsWith('_ROOTS'))
    .flatMap(({ env }) => listGrants({ rootsSetting: env }, config))
  const missingGrant = grants.find(({ folder }) => !existsSync(folder))
  if (missingGrant === undefined)
    return ok('roots', [...new Set(grants.map(({ folder }) => folder))].join(', '))
  return warn(
    'roots',
    `the folder does not exist: ${missingGrant.folder}`,
    missingGrant.source === addRootCommand
      ? `create it, or run causeway roots remove ${missingGrant.folder}`
      : `create it, or remove it from ${missingGrant.source}`,
  )
}

export function checkBridge(bridge: Bridge | undefined): Check {
  const fix = `install causeway-mcp ${version} again`
  if (bridge === undefined) return warn('bridge', 'missing from this installation', fix)
  if (isInNpxCache(bridge.program))
    return warn('bridge', `${bridge.version}, in the npx cache, which npm may delete`, fix)
  if (bridge.version !== version)
    return warn('bridge', `${bridge.version}, this server is ${version}: ${bridge.program}`, fix)
  return ok('bridge', `${bridge.version}, ${bridge.program}`)
}
