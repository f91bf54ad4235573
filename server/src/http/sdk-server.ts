/** The SDK's low-level `Server` over the core: it keeps the protocol, the core answers. */
import { isAsk } from '@causeway/app-kit'
import type { ClientInfo, Id, Params } from '@causeway/protocol'
import { ProtocolError, type Result, Server, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Caller, Era, Mount } from '../core.ts'
import { type Access, getOwner } from '../domain/access.ts'
import { protocolDetail } from '../log.ts'
import { declaresTasks, tasksExtension } from '../tasks/client-task.ts'
import { refuseUndeclared, type TaskCall } from '../tasks/tasks.ts'
import { type Capabilities, firstInput } from './asking.ts'
import { callerOf, type Exchange, type Sender } from './exchange.ts'
import { rpcFailure, tellable } from './failure.ts'
import type { Wiring } from './wiring.ts'

/** What a server is made for. */
export interface SdkServerOptions {
  readonly wiring: Pick<Wiring, 'core' | 'log' | 'asking' | 'tasks'>
  readonly mount: Mount
  readonly era: Era
  readonly versions: readonly string[]
  /** The HTTP request that a message came by. */
  exchangeOf(request: Request): Exchange
  /** Who sends the messages of this server. */
  sender(ctx: ServerContext): Pick<Sender, 'client' | 'sessionId' | 'channel'> & {
    readonly capabilities: Capabilities | undefined
  }
  /** Methods that the leg answers itself, before the core is asked. */
  readonly own?: Readonly<Record<string, (params: Params, access: Access | undefined) => Promise<Result>>>
  /** False makes the SDK answer every request with 404, as MCP 2026-07-28 wants it for a method that does not exist. */
  readonly isServed?: boolean
  /** A request was cancelled; the SDK answers nothing to it. */
  onCancelled?(rpcId: Id): void
}

/** Makes the server; every request that the SDK does not answer itself goes to the core. */
export function sdkServer(options: SdkServerOptions): Server {
  const { wiring, mount, era, versions, own = {} } = options
  const { serverInfo, capabilities, instructions } = wiring.core.describe(mount)
  const server = new Server(serverInfo, {
    capabilities: era === 'modern' ? { ...capabilities, extensions: { [tasksExtension]: {} } } : capabilities,
    instructions,
    supportedProtocolVersions: [...versions],
    requestState: { verify: wiring.asking.verify },
  })
  server.onerror = (err) => protocolDetail(wiring.log, { err, mount: mount.path }, 'a message was refused')
  if (options.isServed === false) return server
  const answer = async (method: string, params: Params, ctx: ServerContext): Promise<Result> => {
    const exchange = options.exchangeOf(ctx.http?.req as Request) // every message comes by HTTP
    const { id } = ctx.mcpReq
    const sender = options.sender(ctx)
    const caller = callerOf(exchange, {
      era,
      rpcId: id,
      aborts: ctx.mcpReq,
      progress: progressOf(ctx),
      notify: notifyOf(ctx),
      ...sender,
    })
    const call = `${mount.path} ${method} ${params.name} ${caller.sessionKey}`
    try {
      const ownAnswer = Object.hasOwn(own, method) ? own[method]?.(params, exchange.access) : undefined
      if (ownAnswer !== undefined) return await ownAnswer
      const input = asks.has(method) ? wiring.asking.inputOf(ctx, call, sender.capabilities) : undefined
      const begun = isFirstRun(ctx) ? exchange.begun : undefined
      begun?.attach(caller)
      const whole = { ...caller, input }
      const isTask = era === 'modern' && method === 'tools/call' && mayBeTask(params, sender.capabilities)
      const given = await (isTask
        ? wiring.tasks.runOrCreate(taskCall(id, params, whole))
        : (begun?.outcome ?? wiring.core.dispatch(method, params, whole)))
      return isAsk(given) ? await wiring.asking.resultOf(given, call) : (given as Result) // the method's own result
    } catch (error) {
      const told = rpcFailure(id, tellable(error, wiring.log, caller.requestId), era)
      if (!('error' in told)) throw error
      throw new ProtocolError(told.error.code, told.error.message, told.error.data)
    }
  }
  /** True for a call of a tool that takes its time, by a client that knows tasks; throws where it has to know them. */
  const mayBeTask = ({ name }: Params, capabilities: Capabilities | undefined): boolean => {
    const support = wiring.core.tool(mount, String(name))?.task
    if (support === 'required') refuseUndeclared(String(name), capabilities)
    return support !== undefined && declaresTasks(capabilities)
  }
  const taskCall = (id: Id, params: Params, caller: Caller): TaskCall => ({
    mount: mount.path,
    owner: getOwner(caller.access),
    input: caller.input ?? firstInput(),
    signal: caller.signal,
    run: (own) => wiring.core.dispatch('tools/call', params, { ...caller, ...own }),
    failure: (error) => {
      const told = rpcFailure(id, tellable(error, wiring.log, caller.requestId), era)
      return 'error' in told ? told.error : {}
    },
  })
  /** The SDK answers nothing to a request that is cancelled, at work or while the client is being asked. */
  const first = (method: string, params: Params, ctx: ServerContext): Promise<Result> => {
    const { id, signal } = ctx.mcpReq
    if (isFirstRun(ctx)) signal.addEventListener('abort', () => options.onCancelled?.(id), { once: true })
    return answer(method, params, ctx)
  }
  server.fallbackRequestHandler = ({ method, params = {} }, ctx) => first(method, params, ctx)
  // Registered by name, these may ask the client: the SDK sends the questions in the manner of the revision.
  for (const method of asks)
    server.setRequestHandler(method, { params: anyParams }, (params, ctx) => first(method, params, ctx))
  return server
}

/** False when a call is run again with replies, by the client or by the SDK. */
const isFirstRun = ({ mcpReq }: ServerContext): boolean =>
  mcpReq.inputResponses === undefined && mcpReq.requestState() === undefined

const asks: ReadonlySet<string> = new Set(['tools/call', 'prompts/get'])

/** The core checks what it reads. */
const anyParams = z.record(z.string(), z.unknown())

/** Messages to the client; the SDK holds back those below the level that the client has set. */
function notifyOf({ mcpReq }: ServerContext): Caller['notify'] {
  // A caller that has hung up misses them and nothing else.
  return (level, data) => void mcpReq.log(level, data).catch(() => {})
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
