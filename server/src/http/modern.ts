/** The stateless leg, MCP 2026-07-28: every message carries its version, its client and its capabilities. */
import { meta, modernVersion, type Params, type Request as RpcRequest, success } from '@causeway/protocol'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { ListKind, Mount } from '../core.ts'
import { methodNames } from '../dispatch.ts'
import { getOwner } from '../domain/access.ts'
import { protocolDetail } from '../log.ts'
import { isTaskMethod, refuseUndeclared } from '../tasks/tasks.ts'
import { type Capabilities, firstInput } from './asking.ts'
import { callerOf, type Exchange, extended, onHangUp, type Turn } from './exchange.ts'
import { modernRequests } from './modern-request.ts'
import { type ParamHeaderCheck, paramHeaderCheck } from './param-headers.ts'
import { BegunCall, isPlainCall, type PlainCall } from './plain-call.ts'
import { answerWithCode } from './sdk-refusal.ts'
import { clientInfoOf, sdkServer } from './sdk-server.ts'
import { refuseUnreadable } from './subscriptions.ts'
import { asksFirstPage, sendToolList } from './tool-list.ts'
import { sendMessages, webRequest } from './web.ts'
import type { Wiring } from './wiring.ts'

/** The leg over all mounts. */
export interface ModernLeg {
  /** Answers one message; resolves when the answer is complete. */
  answer(turn: Turn): Promise<void>
  listChanged(mount: Mount, kind: ListKind): void
  resourceChanged(uri: string): void
  /** Ends every subscription and aborts what is under way. */
  close(): Promise<void>
}

/** True for a message that claims a revision without handshake; whether it is spoken here is judged later. */
export function claimsRevision(message: unknown): boolean {
  const claim = (message as { params?: { _meta?: unknown } } | null | undefined)?.params?._meta
  return typeof claim === 'object' && claim !== null && meta.protocolVersion in claim
}

/** True for a message that is this leg's to answer or refuse: by its own claim, or by the header it came under. */
export const isModern = (body: unknown, versionHeader: unknown): boolean =>
  claimsRevision(body) ||
  (typeof versionHeader === 'string' && /^\d{4}-/.test(versionHeader) && versionHeader >= modernVersion)

/** Makes the leg. A handler is made once for each mount, when its first message comes. */
export function modernLeg(wiring: Wiring): ModernLeg {
  const handlers = new Map<string, McpHttpHandler>()
  const checkParamHeaders: ParamHeaderCheck = paramHeaderCheck()
  const requestIn = modernRequests()
  const exchanges = new WeakMap<Request, Exchange & { readonly method: string }>()

  const handlerOf = (mount: Mount): McpHttpHandler => {
    const known = handlers.get(mount.path)
    if (known !== undefined) return known
    const made = createMcpHandler(
      ({ requestInfo }) =>
        sdkServer({
          wiring,
          mount,
          era: 'modern',
          versions: [modernVersion],
          isServed:
            requestInfo !== undefined && methodNames.includes(exchanges.get(requestInfo)?.method ?? ''),
          exchangeOf: (request) => exchanges.get(request) as Exchange, // put there by answer()
          sender: ({ mcpReq }) => {
            const envelope = (mcpReq.envelope ?? {}) as Params
            return {
              channel: 'mcp',
              client: clientInfoOf(envelope[meta.clientInfo]),
              capabilities: envelope[meta.clientCapabilities] as Capabilities | undefined, // the SDK has checked it
            }
          },
        }),
      {
        legacy: 'reject',
        keepAliveMs: wiring.keepAliveMs,
        onerror: (err) => protocolDetail(wiring.log, { err, mount: mount.path }, 'a message was refused'),
      },
    )
    handlers.set(mount.path, made)
    return made
  }

  /** Throws `HEADER_MISMATCH` for a call whose headers and arguments disagree. */
  const checkHeaders = ({ body, headers: given }: FastifyRequest, mount: Mount): void => {
    const { method, params } = (body ?? {}) as Partial<RpcRequest>
    if (method !== 'tools/call' || typeof params?.name !== 'string') return
    const schema = wiring.core.tool(mount, params.name)?.inputSchema
    if (schema !== undefined) checkParamHeaders(schema, params.arguments, given)
  }

  /** True for a call that can be answered without the SDK: one that cannot become a task. */
  const isShort = (message: RpcRequest | undefined, mount: Mount): message is PlainCall =>
    isPlainCall(message) && wiring.core.tool(mount, message.params.name)?.task === undefined

  /** Begins a plain call; who hangs up cancels it. */
  const begin = (message: PlainCall, { exchange, reply }: Turn): BegunCall => {
    const envelope = message.params._meta as Params // the message was accepted by it
    const begun = new BegunCall(wiring.core, message, (own) =>
      callerOf(exchange, {
        era: 'modern',
        channel: 'mcp',
        rpcId: message.id,
        client: clientInfoOf(envelope[meta.clientInfo]),
        input: firstInput(envelope[meta.clientCapabilities] as Capabilities),
        ...own,
      }),
    )
    begun.drop()
    onHangUp(reply, (reason) => begun.cancel(reason))
    return begun
  }

  return {
    async answer(turn) {
      const { request, reply, exchange } = turn
      const { mount } = exchange
      checkHeaders(request, mount)
      refuseUnreadable(wiring.core, listenedTo(request.body), exchange.access)
      const message = requestIn(request)
      if (message !== undefined && asksFirstPage(message)) {
        return sendToolList(reply, wiring.toolLists.answer({ mount, era: 'modern', id: message.id }))
      }
      if (message !== undefined && isTaskMethod(message.method)) {
        const { method, params = {} } = message
        refuseUndeclared(method, (params._meta as Params)[meta.clientCapabilities]) // accepted by its _meta
        const place = { mount: mount.path, owner: getOwner(exchange.access) }
        const result = await wiring.tasks.answer(method, params, place)
        await reply.send(success(message.id, stamped(result, wiring.core.describe(mount).serverInfo)))
        return
      }
      const begun = isShort(message, mount) ? begin(message, turn) : undefined
      const result = await begun?.quick()
      if (begun?.isCancelled === true) return void reply.hijack()
      if (result !== undefined && message !== undefined) {
        const { serverInfo } = wiring.core.describe(mount)
        await reply
          .type('application/json')
          .send(JSON.stringify(success(message.id, stamped(result, serverInfo))))
        return
      }
      const asked = webRequest(request, { signal: exchange.signal })
      const method = methodOf(request.body)
      exchanges.set(asked, extended(exchange, { method, ...(begun === undefined ? {} : { begun }) }))
      await sendMessages(
        reply,
        await answerWithCode(await handlerOf(mount).fetch(asked, { parsedBody: request.body })),
      )
    },
    listChanged(mount, kind) {
      const notify = handlers.get(mount.path)?.notify
      if (kind === 'tools') notify?.toolsChanged()
      else if (kind === 'prompts') notify?.promptsChanged()
      else notify?.resourcesChanged()
    },
    resourceChanged(uri) {
      for (const { notify } of handlers.values()) notify.resourceUpdated(uri)
    },
    async close() {
      await Promise.all([...handlers.values()].map((handler) => handler.close()))
    },
  }
}

/** The method of a body, empty for what has none that is a text. */
function methodOf(body: unknown): string {
  const { method } = (body ?? {}) as { method?: unknown }
  return typeof method === 'string' ? method : ''
}

/** The resources that a `subscriptions/listen` names; those of a malformed one the SDK refuses. */
function listenedTo(body: unknown): readonly unknown[] {
  const { method, params } = (body ?? {}) as Partial<RpcRequest>
  if (method !== 'subscriptions/listen') return []
  const { resourceSubscriptions } = (params?.notifications ?? {}) as { resourceSubscriptions?: unknown }
  return Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
}

/** What MCP 2026-07-28 wants on every result. */
const stamped = (result: { readonly _meta?: object }, serverInfo: object): object => ({
  ...result,
  resultType: 'complete',
  _meta: { ...result._meta, [meta.serverInfo]: serverInfo },
})
