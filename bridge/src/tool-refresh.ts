import { meta } from '@causeway/protocol'
import { ask } from './ask.ts'
import { messageFields } from './headers.ts'
import type { KnownTools } from './known-tools.ts'
import { type Incoming, readLine } from './message.ts'
import type { Upstream } from './upstream.ts'

/** A list that has more pages than this is no list. */
const mostPages = 100

/** Lists the tools in the name of a stateless call, so that its headers can be those the server asks for. */
export async function refreshTools(
  upstream: Upstream,
  { params, claimed }: Incoming,
  tools: KnownTools,
): Promise<void> {
  const { _meta } = params as { _meta?: Readonly<Record<string, unknown>> }
  const envelope = Object.fromEntries(
    [meta.protocolVersion, meta.clientInfo, meta.clientCapabilities].flatMap((key) =>
      _meta?.[key] === undefined ? [] : [[key, _meta[key]]],
    ),
  )
  let cursor: unknown
  for (let page = 0; page < mostPages; page += 1) {
    const list = {
      jsonrpc: '2.0',
      id: `bridge-tools-${page}`,
      method: 'tools/list',
      params: { ...(cursor !== undefined && { cursor }), _meta: envelope },
    }
    const [line] = readLine(Buffer.from(JSON.stringify(list)))
    if (line?.type !== 'message' || claimed === undefined) return
    const { bytes } = line.message
    const noSession = { id: undefined, version: undefined }
    const { response } = await ask(upstream, messageFields(line.message, noSession), bytes)
    const result = response?.result as { nextCursor?: unknown } | undefined
    tools.learn(result)
    cursor = result?.nextCursor
    if (cursor === undefined) return
  }
}
