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

/** Makes answers out of bytes that are encoded once for each list. */
export interface ToolListAnswers {
  /** The whole JSON-RPC answer as UTF-8. */
  answer(asked: { readonly mount: Mount; readonly era: Era; readonly id: Id }): Buffer
  /** The bytes; all of them are given back at once. */
  readonly memory: { bytes(): number; shrink(): number }
}

/** Encodes the list of a mount when it is first asked for, and again when it is another one. */
export function toolListAnswers(core: Core): ToolListAnswers {
  const known = new Map<string, { readonly json: string; readonly rest: Buffer }>()

  /** What follows the id. */
  const restOf = (mount: Mount, era: Era): Buffer => {
    const { json } = core.toolList(mount, era)
    const key = `${era} ${mount.path}`
    const before = known.get(key)
    if (before?.json === json) return before.rest
    const result = era === 'modern' ? stamped(json, core.describe(mount).serverInfo) : json
    const rest = Buffer.from(`,"result":${result}}`)
    known.set(key, { json, rest })
    return rest
  }

  const bytes = (): number => [...known.values()].reduce((sum, { rest }) => sum + rest.byteLength, 0)
  return {
    memory: {
      bytes,
      shrink() {
        const given = bytes()
        known.clear()
        return given
      },
    },
    answer: ({ mount, era, id }) =>
      Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)}`), restOf(mount, era)]),
  }
}

/** What MCP 2026-07-28 wants on every result, put in before the last brace; the list is never empty of members. */
function stamped(json: string, serverInfo: object): string {
  const stamp = { resultType: 'complete', _meta: { [meta.serverInfo]: serverInfo } }
  return `${json.slice(0, -1)},${JSON.stringify(stamp).slice(1)}`
}
