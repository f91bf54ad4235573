import { isAsk } from '@causeway/app-kit'
import type { Id, Params, Response } from '@causeway/protocol'
import {
  ProtocolError,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { getOwner } from '../../access/access.ts'
import type { Caller, Era } from '../../dispatch/caller.ts'
import { findCalledTool } from '../../dispatch/resolve-call.ts'
import { logProtocolDetail } from '../../log/log.ts'
import type { Mount } from '../../registry/mount.ts'
import { requireTaskSupport, supportsTasks, tasksExtension } from '../../tasks/client-task.ts'
import type { TaskCall } from '../../tasks/tasks.ts'
import { toClientError, toErrorResponse } from '../error-responses.ts'
import type { Exchange, Sender } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import type { ExchangeRequest } from '../web-messages.ts'
import { type Capabilities, createInput } from './input-codec.ts'
import type { Notification, Subscriptions } from './subscriptions.ts'

interface CoreServerOptions {
  readonly services: HttpServices
  readonly mount: Mount
  readonly era: Era
  readonly versions: readonly string[]
  getSender(ctx: ServerContext): Pick<Sender, 'client' | 'sessionId' | 'channel'> & {
    readonly capabilities: Capabilities | undefined
  }
  readonly subscriptions?: Subscriptions
  /** Called for a cancelled request, to which the SDK sends no response. */
  onCancelled?(id: Id): void
}

/** Returns the methods that can ask the client. The SDK requires the capability `resources` for the last one. */
const getInputMethods = ({ resources }: ServerCapabilities): readonly string[] =>
  resources === undefined ? ['tools/call', 'prompts/get'] : ['tools/call', 'prompts/get', 'resources/read']

const anyParams = z.record(z.string(), z.unknown())

/** The SDK's server. Passes requests, which must be `ExchangeRequest`s, to the core. */
export class CoreServer extends Server {
  readonly #options: CoreServerOptions
  readonly #inputMethods: readonly string[]

  /** Without `hasMethods`, the SDK responds with 404, as MCP 2026-07-28 requires for unknown methods. */
  constructor(options: CoreServerOptions, { hasMethods = true } = {}) {
    const { services, mount, era, versions } = options
    const { serverInfo, capabilities, instructions } = services.core.registry.getLists(mount).description
    super(serverInfo, {
      capabilities:
        era === 'modern' ? { ...capabilities, extensions: { [tasksExtension]: {} } } : capabilities,
      instructions,
      supportedProtocolVersions: [...versions],
      requestState: { verify: services.inputCodec.verify },
    })
    this.#options = options
    this.#inputMethods = getInputMethods(capabilities)
    this.onerror = (err) =>
      logProtocolDetail(services.log, { err, mount: mount.path }, 'a message was rejected')
    if (!hasMethods) return
    this.fallbackRequestHandler = ({ method, params = {} }, ctx) => this.#handle(method, params, ctx)
    // The SDK encodes questions only for methods that are registered by name.
    for (const method of this.#inputMethods)
      this.setRequestHandler(method, { params: anyParams }, (params, ctx) =>
        this.#handle(method, params, ctx),
      )
  }

  /** Does nothing if the client has disconnected. */
  sendNotification(notification: Notification): void {
    const { log } = this.#options.services
    this.notification(notification).catch((err: unknown) =>
      logProtocolDetail(log, { err }, 'a notification was not sent'),
    )
  }

  async #handle(method: string, params: Params, ctx: ServerContext): Promise<Result> {
    const { era, subscriptions, onCancelled } = this.#options
    const { id, signal } = ctx.mcpReq
    if (isFirstRun(ctx)) signal.addEventListener('abort', () => onCancelled?.(id), { once: true })
    const { exchange } = (ctx.http as { readonly req: Request }).req as ExchangeRequest
    const { capabilities, ...sender } = this.#options.getSender(ctx)
    const caller = exchange.createCaller({
      ...sender,
      era,
      rpcId: id,
      cancellation: ctx.mcpReq,
      progress: createProgress(ctx),
      // Fails if the client has disconnected.
      notify: (level, data) => void ctx.mcpReq.log(level, data).catch(() => {}),
    })
    try {
      return await (subscriptions?.handle(method, params, caller) ??
        this.#dispatch(method, params, { ctx, caller, exchange, capabilities }))
    } catch (error) {
      const { code, message, data } = toRpcError(error, id, this.#options, caller)
      throw new ProtocolError(code, message, data)
    }
  }

  async #dispatch(
    method: string,
    params: Params,
    { ctx, caller, exchange, capabilities }: DispatchContext,
  ): Promise<Result> {
    const { services, mount } = this.#options
    const call = `${mount.path} ${method} ${params.name ?? params.uri} ${caller.sessionKey}`
    const input = this.#inputMethods.includes(method)
      ? services.inputCodec.decode(ctx, call, capabilities)
      : undefined
    const startedCall = isFirstRun(ctx) ? exchange.startedCall : undefined
    startedCall?.attach(caller)
    const callerWithInput = { ...caller, input }
    const result = await (this.#canBeTask(method, params, capabilities)
      ? services.tasks.runOrCreate(this.#createTaskCall(ctx.mcpReq.id, params, callerWithInput))
      : (startedCall?.outcome ?? services.core.dispatch(method, params, callerWithInput)))
    return isAsk(result) ? services.inputCodec.encode(result, call) : (result as Result)
  }

  #canBeTask(method: string, params: Params, capabilities: Capabilities | undefined): boolean {
    const { services, mount, era } = this.#options
    if (era !== 'modern' || method !== 'tools/call') return false
    const taskSupport = findCalledTool(services.core.registry, mount, params)?.task
    if (taskSupport === 'required') requireTaskSupport(String(params.name), capabilities)
    return taskSupport !== undefined && supportsTasks(capabilities)
  }

  #createTaskCall(id: Id, params: Params, caller: Caller): TaskCall {
    const { services, mount } = this.#options
    return {
      mount: mount.path,
      owner: getOwner(caller.access),
      input: caller.input ?? createInput(),
      signal: caller.cancellation.signal,
      run: ({ signal, input }) =>
        services.core.dispatch('tools/call', params, { ...caller, cancellation: { signal }, input }),
      toFailure: (error) => toRpcError(error, id, this.#options, caller),
    }
  }
}

interface DispatchContext {
  readonly ctx: ServerContext
  readonly caller: Caller
  readonly exchange: Exchange
  readonly capabilities: Capabilities | undefined
}

const isFirstRun = ({ mcpReq }: ServerContext): boolean =>
  mcpReq.inputResponses === undefined && mcpReq.requestState() === undefined

function createProgress({ mcpReq }: ServerContext): Caller['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  return (progress, total, message) => {
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

type RpcError = Extract<Response, { readonly error: unknown }>

function toRpcError(
  error: unknown,
  id: Id,
  { services, era }: Pick<CoreServerOptions, 'services' | 'era'>,
  { requestId }: Caller,
): RpcError['error'] {
  const response = toErrorResponse(id, toClientError(error, services.log, requestId), era)
  return (response as RpcError).error
}
