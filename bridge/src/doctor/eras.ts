import { type ClientInfo, headers, legacyVersions, meta, modernVersion } from '@causeway/protocol'
import type { Asked } from '../ask.ts'
import { version } from '../version.ts'
import { type Check, fail, ok, warn } from './check.ts'
import type { Probe } from './probe.ts'
import { whyRefused } from './reach.ts'

const clientInfo: ClientInfo = { name: 'causeway-doctor', version }

/** What makes a request one of the stateless era. */
const envelope = {
  [meta.protocolVersion]: modernVersion,
  [meta.clientInfo]: clientInfo,
  [meta.clientCapabilities]: {},
}

type Result = Readonly<Record<string, unknown>> | undefined
const resultOf = ({ response }: Asked): Result => response?.result as Result

/** Speaks both eras, then lists the tools in one that is spoken. */
export async function examineEras(probe: Probe, maxLine: number): Promise<Check[]> {
  const legacy = await probe.rpc('initialize', {
    protocolVersion: legacyVersions[0],
    capabilities: {},
    clientInfo,
  })
  const refused = whyRefused(legacy.reply)
  if (refused !== undefined) return [refused]
  const modern = await probe.rpc('server/discover', { _meta: envelope })
  const [opened, discovered] = [resultOf(legacy), resultOf(modern)]
  if (opened === undefined && discovered === undefined) return [noServer(legacy)]

  const sessionId = legacy.reply.headers[headers.sessionId] as string | undefined
  const session = {
    ...(sessionId !== undefined && { sessionId }),
    version: String(opened?.protocolVersion ?? ''),
  }
  if (sessionId !== undefined) await probe.tell('notifications/initialized', session)
  const listed = await (discovered === undefined
    ? probe.rpc('tools/list', {}, session)
    : probe.rpc('tools/list', { _meta: envelope }))
  const checks = [
    opened === undefined
      ? ok('initialize', 'not spoken: the bridge translates for clients that need it')
      : ok('initialize', `${nameOf(opened.serverInfo)}, protocol ${opened.protocolVersion}`),
    discovered === undefined
      ? ok('discover', 'not spoken: the bridge translates for clients that need it')
      : ok('discover', `protocol ${[discovered.supportedVersions].flat().join(', ')}`),
    toolCheck(listed, maxLine),
    await originCheck(probe),
  ]
  if (sessionId !== undefined) await probe.leave(sessionId).catch(() => {})
  return checks
}

function noServer({ reply, response }: Asked): Check {
  const error = response?.error as { message?: unknown } | undefined
  const found = error === undefined ? `HTTP ${reply.status}` : `HTTP ${reply.status}: ${error.message}`
  return fail('protocol', `no MCP answer (${found})`, 'check the path of --url, it usually is /mcp')
}

const nameOf = (info: unknown): string => {
  const { name = 'a server', version = '' } = (info ?? {}) as Partial<ClientInfo>
  return `${name} ${version}`.trim()
}

/** A model pays for every byte of a list; beyond this a choice is worth its while. */
const largeList = 100 * 1024

function toolCheck(asked: Asked, maxLine: number): Check {
  const { reply } = asked
  const { tools, nextCursor } = (resultOf(asked) ?? {}) as { tools?: unknown; nextCursor?: unknown }
  if (!Array.isArray(tools)) return fail('tools', 'the server lists no tools', 'see the log of the server')
  const size = Math.max(reply.size, JSON.stringify(asked.response).length)
  const text = `${tools.length} tools${nextCursor === undefined ? '' : ' on the first page'}, ${Math.ceil(size / 1024)} kB`
  if (maxLine > 0 && size > maxLine)
    return fail('tools', `${text}: more than a client reads`, 'raise --max-line, or choose with --app')
  if (tools.length === 0) return warn('tools', text, 'switch an app on with CAUSEWAY_APPS')
  if (size > largeList) return warn('tools', text, 'let the client see less: --app <name>, --only <glob>')
  return ok('tools', text)
}

/** A server that answers any web page can be reached by every page that its user opens. */
async function originCheck(probe: Probe): Promise<Check> {
  const { reply } = await probe.rpc(
    'ping',
    { _meta: envelope },
    { fields: { origin: 'http://web-page.invalid' } },
  )
  if (reply.status === 403) return ok('origin', 'web pages of other sites are refused')
  return warn('origin', 'web pages of other sites are answered', 'let the server check the Origin header')
}
