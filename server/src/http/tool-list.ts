/** `tools/list` from bytes that were serialised when the list changed: the one answer that every client asks for. */
import { type Id, meta, type Params } from '@causeway/protocol'
import type { Core, Era, Mount } from '../core.ts'

/** The part of a request that decides. */
interface Asked {
  readonly method: string
  readonly params?: Params | undefined
}

/** True for a request of the first page of `tools/list`. */
export const asksFirstPage = ({ method, params }: Asked): boolean =>
  method === 'tools/list' && params?.cursor === undefined

/** The whole JSON-RPC answer, as text. */
export function toolListAnswer(
  core: Core,
  { mount, era, id }: { readonly mount: Mount; readonly era: Era; readonly id: Id },
): string {
  const { json } = core.toolList(mount, era)
  const result = era === 'modern' ? stamped(json, core.describe(mount).serverInfo) : json
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}

/** What MCP 2026-07-28 wants on every result, put in before the last brace; the list is never empty of members. */
function stamped(json: string, serverInfo: object): string {
  const stamp = { resultType: 'complete', _meta: { [meta.serverInfo]: serverInfo } }
  return `${json.slice(0, -1)},${JSON.stringify(stamp).slice(1)}`
}
