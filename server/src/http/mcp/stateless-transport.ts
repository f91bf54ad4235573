import {
  type ClientInfo,
  createSuccess,
  meta,
  modernVersion,
  type Params,
  type Request,
} from '@causeway/protocol'
import { createMcpHandler, type McpHttpHandler, type ServerContext } from '@modelcontextprotocol/server'
import { getOwner } from '../../access/access.ts'
import { methodNames } from '../../dispatch/dispatch.ts'
import { findCalledTool } from '../../dispatch/resolve-call.ts'
import { logProtocolDetail } from '../../log/log.ts'
import type { Change, Mount } from '../../registry/mount.ts'
import { isTaskMethod, requireTaskSupport, type TaskMethod } from '../../tasks/client-task.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { type ExchangeRequest, sendMessages, toExchangeRequest } from '../web-messages.ts'
import { CoreServer } from './core-server.ts'
import { type Capabilities, createInput } from './input-codec.ts'
import { ParamHeaders } from './param-headers.ts'
import { completeResult, encodeResult, jsonType } from './responses.ts'
import { addErrorCodeToBody } from './sdk-errors.ts'
import { isPlainCall, type PlainCall, StartedCall } from './started-call.ts'
import { StatelessRequests } from './stateless-requests.ts'
import { checkReadAccess } from './subscriptions.ts'
import type { Transport } from './transport.ts'

/** MCP 2026-07-28: every message contains version, client and capabilities. */
export class StatelessTransport implements Transport {
  readonly #services: HttpServices
  readonly #handlers = new Map<string, McpHttpHandler>()
  readonly #paramHeaders = new ParamHeaders()
  readonly #requests = new StatelessRequests()

  constructor(services: HttpServices) {
    this.#services = services
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, reply, mount } = exchange
    this.#checkParamHeaders(exchange)
    checkReadAccess(this.#services.core, readSubscriptions(request.body), exchange.access)
    const message = this.#requests.read(request)
    if (message !== undefined && (await this.#handleWithoutSdk(exchange, message))) return
    const handler = this.#getHandler(mount)
    const unsubscribe = this.#subscribe(exchange)
    try {
      const response = await handler.fetch(toExchangeRequest(exchange), { parsedBody: request.body })
      await sendMessages(reply, await addErrorCodeToBody(response))
    } finally {
      unsubscribe()
    }
  }

  notify(change: Change): void {
    if ('uri' in change) {
      for (const { notify } of this.#handlers.values()) notify.resourceUpdated(change.uri)
      return
    }
    const notify = this.#handlers.get(change.mount.path)?.notify
    if (change.list === 'tools') notify?.toolsChanged()
    else if (change.list === 'prompts') notify?.promptsChanged()
    else notify?.resourcesChanged()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()))
  }

  #subscribe(exchange: Exchange): () => void {
    const uris = readSubscriptions(exchange.request.body).filter((uri) => typeof uri === 'string')
    if (uris.length === 0) return () => {}
    const { core } = this.#services
    const caller = exchange.createCaller({ era: 'modern', channel: 'mcp' })
    const unsubscribeCallbacks = uris.map((uri) => core.subscribe(uri, caller))
    return () => {
      for (const unsubscribe of unsubscribeCallbacks) unsubscribe()
    }
  }

  #checkParamHeaders({ request: { body, headers }, mount }: Exchange): void {
    const { method, params } = (body ?? {}) as Partial<Request>
    if (method !== 'tools/call' || typeof params?.name !== 'string') return
    const schema = this.#services.core.registry.findTool(mount, params.name)?.tool.inputSchema
    if (schema !== undefined) this.#paramHeaders.check(schema, params.arguments, headers)
  }

  /** Resolves to `true` if it responded. */
  async #handleWithoutSdk(exchange: Exchange, message: Request): Promise<boolean> {
    const { method } = message
    const { hasFastPath, toolLists, core } = this.#services
    if (isTaskMethod(method)) {
      await this.#handleTask(exchange, method, message)
      return true
    }
    if (toolLists.respond(exchange, 'modern')) return true
    if (!hasFastPath || !isPlainCall(message)) return false
    // A call that can become a task needs the SDK.
    const canBeTask = findCalledTool(core.registry, exchange.mount, message.params)?.task !== undefined
    return !canBeTask && this.#callTool(exchange, message)
  }

  async #handleTask(exchange: Exchange, method: TaskMethod, { id, params = {} }: Request): Promise<void> {
    const { core, tasks } = this.#services
    const { mount, access, reply } = exchange
    requireTaskSupport(method, (params._meta as Params)[meta.clientCapabilities])
    const result = await tasks.handle(method, params, { mount: mount.path, owner: getOwner(access) })
    await reply.send(
      createSuccess(id, completeResult(result, core.registry.getLists(mount).description.serverInfo)),
    )
  }

  async #callTool(exchange: Exchange, message: PlainCall): Promise<boolean> {
    const { core } = this.#services
    const { reply, mount } = exchange
    const { capabilities, ...sender } = readEnvelope(message.params._meta)
    const call = new StartedCall(core, message, (channel) =>
      exchange.createCaller({
        ...sender,
        ...channel,
        era: 'modern',
        rpcId: message.id,
        input: createInput(capabilities),
      }),
    )
    call.dropMessages()
    exchange.onDisconnect((reason) => call.cancel(reason))
    const result = await call.getQuickResult()
    if (call.isCancelled) {
      reply.hijack()
      return true
    }
    if (result === undefined) {
      exchange.startedCall = call
      return false
    }
    const { serverInfo } = core.registry.getLists(mount).description
    await reply.type(jsonType).send(encodeResult(message.id, completeResult(result, serverInfo)))
    return true
  }

  #getHandler(mount: Mount): McpHttpHandler {
    const existingHandler = this.#handlers.get(mount.path)
    if (existingHandler !== undefined) return existingHandler
    const { keepAliveMs, log } = this.#services
    const options = {
      services: this.#services,
      mount,
      era: 'modern',
      versions: [modernVersion],
      getSender: ({ mcpReq }: ServerContext) => readEnvelope(mcpReq.envelope),
    } as const
    const handler = createMcpHandler(
      ({ requestInfo }) => {
        const { method } = ((requestInfo as ExchangeRequest).exchange.request.body ?? {}) as Partial<Request>
        return new CoreServer(options, { hasMethods: methodNames.includes(method ?? '') })
      },
      {
        legacy: 'reject',
        keepAliveMs,
        onerror: (err) => logProtocolDetail(log, { err, mount: mount.path }, 'a message was rejected'),
      },
    )
    this.#handlers.set(mount.path, handler)
    return handler
  }
}

function readEnvelope(value: unknown) {
  const envelope = (value ?? {}) as Params
  return {
    channel: 'mcp' as const,
    client: parseClientInfo(envelope[meta.clientInfo]),
    capabilities: envelope[meta.clientCapabilities] as Capabilities | undefined,
  }
}

function parseClientInfo(value: unknown): ClientInfo | undefined {
  const { name, version } = (value ?? {}) as Partial<ClientInfo>
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

function readSubscriptions(body: unknown): readonly unknown[] {
  const { method, params } = (body ?? {}) as Partial<Request>
  if (method !== 'subscriptions/listen') return []
  const { resourceSubscriptions } = (params?.notifications ?? {}) as { resourceSubscriptions?: unknown }
  return Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
}
