import {
  asObject,
  type ClientInfo,
  type JsonObject,
  legacyVersions,
  meta,
  modernVersion,
  readClaimedVersion,
} from '@causeway/protocol'
import {
  createMessageFields,
  createSessionFields,
  type Fields,
  noSession,
  readSessionKey,
  type SessionKey,
} from '../http/headers.ts'
import type { Reply } from '../http/reply.ts'
import { type RequestResult, sendRequest } from '../http/send-request.ts'
import type { Upstream } from '../http/upstream.ts'
import { parseJson } from '../stdio/json.ts'
import { toLine } from '../stdio/message.ts'
import { version } from '../version.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** A working server answers a handshake within a second. */
export const timeoutMs = 10_000

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
  const failedNames = names.filter((name) => asObject(apps[name]).status !== 'ok')
  return warn(
    'health',
    [status, failedNames.join(', ')].filter(Boolean).join(': '),
    'see GET /health for the reason',
  )
}

const id = 'doctor'
const clientInfo: ClientInfo = { name: 'causeway-doctor', version }

const envelope = {
  [meta.protocolVersion]: modernVersion,
  [meta.clientInfo]: clientInfo,
  [meta.clientCapabilities]: {},
}

interface Message {
  readonly method: string
  readonly params: JsonObject
  /** A message without an id is a notification. */
  readonly id?: string
}

function post(
  upstream: Upstream,
  message: Message,
  { fields, key = noSession }: { fields?: Fields; key?: SessionKey } = {},
): Promise<RequestResult> {
  const defaultFields = createMessageFields({ ...message, claimedVersion: readClaimedVersion(message) }, key)
  const body = toLine({ jsonrpc: '2.0', ...message })
  return sendRequest(upstream, { method: 'POST', fields: { ...defaultFields, ...fields }, body }, timeoutMs)
}

export async function checkProtocol(upstream: Upstream, maxLine: number): Promise<Check[]> {
  const request = (method: string, params: JsonObject, key = noSession): Promise<RequestResult> =>
    post(upstream, { method, params, id }, { key })
  const legacyResult = await request('initialize', {
    protocolVersion: legacyVersions[0],
    capabilities: {},
    clientInfo,
  })
  const accessFailure = checkAccess(legacyResult.reply)
  if (accessFailure !== undefined) return [accessFailure]
  const modernResult = await request('server/discover', { _meta: envelope })
  const [initializeResult, discoverResult] = [getResult(legacyResult), getResult(modernResult)]
  if (initializeResult === undefined && discoverResult === undefined)
    return [createProtocolFailure(legacyResult)]

  const key = readSessionKey(legacyResult.reply.headers, initializeResult)
  if (key.id !== undefined) await post(upstream, { method: 'notifications/initialized', params: {} }, { key })
  const listResult = await (discoverResult === undefined
    ? request('tools/list', {}, key)
    : request('tools/list', { _meta: envelope }))
  const checks = [
    initializeResult === undefined
      ? ok('initialize', 'not supported; the bridge translates if necessary')
      : ok(
          'initialize',
          `${formatServer(initializeResult.serverInfo)}, protocol ${initializeResult.protocolVersion}`,
        ),
    discoverResult === undefined
      ? ok('discover', 'not supported; the bridge translates if necessary')
      : ok('discover', `protocol ${[discoverResult.supportedVersions].flat().join(', ')}`),
    checkTools(listResult, maxLine),
    await checkOrigin(upstream),
  ]
  if (key.id !== undefined)
    await sendRequest(upstream, { method: 'DELETE', fields: createSessionFields(key) }, timeoutMs).catch(
      () => {},
    )
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

const getResult = ({ response }: RequestResult): JsonObject | undefined =>
  response?.result as JsonObject | undefined

function createProtocolFailure({ reply, response }: RequestResult): Check {
  const { message } = asObject(response?.error)
  const status = message === undefined ? `HTTP ${reply.status}` : `HTTP ${reply.status}: ${message}`
  return fail('protocol', `not an MCP response (${status})`, 'check the path of --url, it usually is /mcp')
}

function formatServer(info: unknown): string {
  const { name = 'unknown server', version = '' } = asObject(info)
  return `${name} ${version}`.trim()
}

/** Above this size, the doctor recommends filters, because the list fills the model's context. */
const largeListBytes = 100 * 1024

function checkTools(listResult: RequestResult, maxLine: number): Check {
  const { tools, nextCursor } = getResult(listResult) ?? {}
  if (!Array.isArray(tools)) return fail('tools', 'the server lists no tools', 'see the log of the server')
  const bytes = Math.max(listResult.reply.size, JSON.stringify(listResult.response).length)
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
async function checkOrigin(upstream: Upstream): Promise<Check> {
  const fields = { origin: 'http://web-page.invalid' }
  const { reply } = await post(upstream, { method: 'ping', params: { _meta: envelope }, id }, { fields })
  if (reply.status === 403) return ok('origin', 'requests of foreign web pages are rejected')
  return warn('origin', 'requests of foreign web pages are accepted', 'check the Origin header on the server')
}
