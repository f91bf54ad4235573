/** The stateless leg, MCP 2026-07-28: every message carries its version, its client and its capabilities. */
import { headers, meta, modernVersion, type Params, type Request as RpcRequest } from '@causeway/protocol'
import { classifyInboundRequest, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { ListKind, Mount } from '../core.ts'
import { methodNames } from '../dispatch.ts'
import { protocolDetail } from '../log.ts'
import type { Capabilities } from './asking.ts'
import type { Exchange, Turn } from './exchange.ts'
import { clientInfoOf, sdkServer } from './sdk-server.ts'
import { asksFirstPage, toolListAnswer } from './tool-list.ts'
import { sendWeb, webRequest } from './web.ts'
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

  return {
    async answer({ request, reply, exchange }) {
      const { body } = request
      const { mount } = exchange
      if (isPlainToolList(request)) {
        const { id } = body as RpcRequest // classified as a request
        await reply.type('application/json').send(toolListAnswer(wiring.core, { mount, era: 'modern', id }))
        return
      }
      const asked = webRequest(request, { signal: exchange.signal })
      exchanges.set(asked, { ...exchange, method: String((body as { method?: unknown } | null)?.method) })
      await sendWeb(reply, await handlerOf(mount).fetch(asked, { parsedBody: body }))
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

/** True for a first page of `tools/list` that the SDK would serve: anything it might refuse goes to it. */
function isPlainToolList({ method, headers: given, body }: FastifyRequest): boolean {
  const { [headers.protocolVersion]: version, [headers.method]: mcpMethod } = given
  if (version !== modernVersion || typeof mcpMethod !== 'string') return false
  const outcome = classifyInboundRequest({
    httpMethod: method,
    protocolVersionHeader: version,
    mcpMethodHeader: mcpMethod,
    body,
  })
  return outcome.kind === 'modern' && outcome.messageKind === 'request' && asksFirstPage(outcome.message)
}
