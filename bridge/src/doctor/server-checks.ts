import {
  asObject,
  type ClientInfo,
  type JsonObject,
  legacyVersions,
  meta,
  modernVersion,
} from '@causeway/protocol'
import type { Asked } from '../http/ask.ts'
import { readSessionKey } from '../http/headers.ts'
import type { Reply } from '../http/reply.ts'
import { parseJson } from '../stdio/json.ts'
import { version } from '../version.ts'
import { type Check, fail, ok, warn } from './check.ts'
import type { Probe } from './probe.ts'

export function checkHealth({ status, body }: Reply): Check[] {
  const report = asObject(body && parseJson(body))
  if (typeof report.status !== 'string')
    return [ok('health', `no /health (HTTP ${status}): not a Causeway server`)]
  const { data_dir: folder, version: serverVersion } = report
  return [
    checkApps(report.status, asObject(report.apps)),
    serverVersion === version
      ? ok('version', `bridge and server ${version}`)
      : warn(
          'version',
          `bridge ${version}, server ${serverVersion}`,
          'restart the server, so that both have the same version',
        ),
    typeof folder === 'string'
      ? ok('data', folder)
      : warn('data', 'the server does not report a data folder', 'start it with CAUSEWAY_DATA_DIR'),
  ]
}

function checkApps(status: string, apps: JsonObject): Check {
  const names = Object.keys(apps)
  if (status === 'ok') return ok('health', `ready, apps: ${names.join(', ') || 'none'}`)
  const failed = names.filter((name) => asObject(apps[name]).status !== 'ok')
  return warn(
    'health',
    [status, failed.join(', ')].filter(Boolean).join(': '),
    'see GET /health for the reason',
  )
}

const clientInfo: ClientInfo = { name: 'causeway-doctor', version }

const envelope = {
  [meta.protocolVersion]: modernVersion,
  [meta.clientInfo]: clientInfo,
  [meta.clientCapabilities]: {},
}

export async function checkProtocol(probe: Probe, maxLine: number): Promise<Check[]> {
  const legacy = await probe.request('initialize', {
    protocolVersion: legacyVersions[0],
    capabilities: {},
    clientInfo,
  })
  const denied = checkAccess(legacy.reply)
  if (denied !== undefined) return [denied]
  const modern = await probe.request('server/discover', { _meta: envelope })
  const [initialized, discovered] = [getResult(legacy), getResult(modern)]
  if (initialized === undefined && discovered === undefined) return [noProtocol(legacy)]

  const key = readSessionKey(legacy.reply.headers, initialized)
  if (key.id !== undefined) await probe.notify('notifications/initialized', { key })
  const listed = await (discovered === undefined
    ? probe.request('tools/list', {}, { key })
    : probe.request('tools/list', { _meta: envelope }))
  const checks = [
    initialized === undefined
      ? ok('initialize', 'not supported; the bridge translates if necessary')
      : ok('initialize', `${formatServer(initialized.serverInfo)}, protocol ${initialized.protocolVersion}`),
    discovered === undefined
      ? ok('discover', 'not supported; the bridge translates if necessary')
      : ok('discover', `protocol ${[discovered.supportedVersions].flat().join(', ')}`),
    checkTools(listed, maxLine),
    await checkOrigin(probe),
  ]
  if (key.id !== undefined) await probe.deleteSession(key).catch(() => {})
  return checks
}

function checkAccess({ status, body }: Reply): Check | undefined {
  if (status === 401)
    return fail('token', 'the server requires a valid token', 'pass it in a file with --token-file <file>')
  if (status !== 403) return undefined
  return /host/i.test(body?.toString('utf8') ?? '')
    ? fail('host', 'the server rejects this host name', 'use localhost, or allow the name on the server')
    : fail('access', 'the server denies access', 'check --token-file and --header')
}

const getResult = ({ response }: Asked): JsonObject | undefined => response?.result as JsonObject | undefined

function noProtocol({ reply, response }: Asked): Check {
  const { message } = asObject(response?.error)
  const found = message === undefined ? `HTTP ${reply.status}` : `HTTP ${reply.status}: ${message}`
  return fail('protocol', `not an MCP response (${found})`, 'check the path of --url, it usually is /mcp')
}

function formatServer(info: unknown): string {
  const { name = 'unknown server', version = '' } = asObject(info)
  return `${name} ${version}`.trim()
}

/** Above this size, the doctor recommends filters: the list takes up context of the model. */
const largeListBytes = 100 * 1024

function checkTools(listed: Asked, maxLine: number): Check {
  const { tools, nextCursor } = getResult(listed) ?? {}
  if (!Array.isArray(tools)) return fail('tools', 'the server lists no tools', 'see the log of the server')
  const bytes = Math.max(listed.reply.size, JSON.stringify(listed.response).length)
  const text = `${tools.length} tools${nextCursor === undefined ? '' : ' on the first page'}, ${Math.ceil(bytes / 1024)} kB`
  if (maxLine > 0 && bytes > maxLine)
    return fail(
      'tools',
      `${text}: more than a client accepts`,
      'raise --max-line, or select an app with --app',
    )
  if (tools.length === 0) return warn('tools', text, 'enable an app with CAUSEWAY_APPS')
  if (bytes > largeListBytes) return warn('tools', text, 'reduce the list with --app <name> or --only <glob>')
  return ok('tools', text)
}

/** If a server accepts every origin, every web page that its user opens can call it. */
async function checkOrigin(probe: Probe): Promise<Check> {
  const fields = { origin: 'http://web-page.invalid' }
  const { reply } = await probe.request('ping', { _meta: envelope }, { fields })
  if (reply.status === 403) return ok('origin', 'requests of foreign web pages are rejected')
  return warn('origin', 'requests of foreign web pages are accepted', 'check the Origin header on the server')
}
