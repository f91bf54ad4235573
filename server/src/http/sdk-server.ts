/** The SDK's low-level `Server` over the core: it keeps the protocol, the core answers. */
import type { ClientInfo, Id, Params } from '@causeway/protocol'
import { ProtocolError, type Result, Server, type ServerContext } from '@modelcontextprotocol/server'
import type { Caller, Era, Mount } from '../core.ts'
import { protocolDetail } from '../log.ts'
import { callerOf, type Exchange, type Sender } from './exchange.ts'
import { rpcFailure, tellable } from './failure.ts'
import type { Wiring } from './wiring.ts'

/** What a server is made for. */
export interface SdkServerOptions {
  readonly wiring: Pick<Wiring, 'core' | 'log'>
  readonly mount: Mount
  readonly era: Era
  readonly versions: readonly string[]
  /** The HTTP request that a message came by. */
  exchangeOf(request: Request): Exchange
  /** Who sends the messages of this server. */
  sender(ctx: ServerContext): Pick<Sender, 'client' | 'sessionId'>
  /** Methods that the leg answers itself, before the core is asked. */
  readonly own?: Readonly<Record<string, (params: Params) => Promise<Result>>>
  /** False makes the SDK answer every request with 404, as MCP 2026-07-28 wants it for a method that does not exist. */
  readonly isServed?: boolean
  /** A cancelled request has come to its end; the SDK answers nothing to it. */
  onCancelled?(rpcId: Id): void
}

/** Makes the server; every request that the SDK does not answer itself goes to the core. */
export function sdkServer(options: SdkServerOptions): Server {
  const { wiring, mount, era, versions, own = {} } = options
  const { serverInfo, capabilities, instructions } = wiring.core.describe(mount)
  const server = new Server(serverInfo, {
    capabilities,
    instructions,
    supportedProtocolVersions: [...versions],
  })
  server.onerror = (err) => protocolDetail(wiring.log, { err, mount: mount.path }, 'a message was refused')
  if (options.isServed === false) return server
  server.fallbackRequestHandler = async ({ id, method, params = {} }, ctx) => {
    const exchange = options.exchangeOf(ctx.http?.req as Request) // every message comes by HTTP
    const { signal } = ctx.mcpReq
    const caller = callerOf(exchange, {
      era,
      rpcId: id,
      signal,
      progress: progressOf(ctx),
      ...options.sender(ctx),
    })
    try {
      const answer = Object.hasOwn(own, method)
        ? own[method]?.(params)
        : wiring.core.dispatch(method, params, caller)
      return (await answer) as Result // dispatch gives the result of the method
    } catch (error) {
      const answer = rpcFailure(id, tellable(error, wiring.log, caller.requestId), era)
      if (!('error' in answer)) throw error
      throw new ProtocolError(answer.error.code, answer.error.message, answer.error.data)
    } finally {
      if (signal.aborted) options.onCancelled?.(id)
    }
  }
  return server
}

/** Progress notifications for a caller that gave a token; nothing for the others. */
function progressOf({ mcpReq }: ServerContext): Caller['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  return (progress, total, message) => {
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    }
    // A caller that has hung up misses its progress and nothing else.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

/** The client's name and version, where a value has the form of them. */
export function clientInfoOf(value: unknown): ClientInfo | undefined {
  const { name, version } = (value ?? {}) as Partial<ClientInfo>
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}
