import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isAbsolute } from 'node:path'
import { CausewayError, type ClientInfo, decodePercent, headers, type Id } from '@causeway/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Access, getOwner } from '../access/access.ts'
import { parseTrace } from '../audit/trace.ts'
import type { Caller } from '../dispatch/caller.ts'
import type { Mount } from '../registry/mount.ts'
import type { StartedCall } from './mcp/started-call.ts'
import { isLoopbackAddress } from './security/admission.ts'

/** Properties of the sender that the HTTP request does not contain. */
export interface Sender
  extends Pick<Caller, 'era' | 'channel' | 'input'>,
    Partial<Pick<Caller, 'cancellation' | 'progress' | 'notify'>> {
  readonly rpcId?: Id
  readonly client?: ClientInfo | undefined
  readonly sessionId?: string | undefined
}

const sessionKeyPattern = /^[A-Za-z0-9._-]{1,128}$/
const requestIdPattern = /^[\x21-\x7e]{1,256}$/

const sharedKey = 'anonymous'

/** An HTTP request and response, and the caller according to headers and token. */
export class Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly mount: Mount
  readonly sessionKey: string | undefined
  /** Set if the transport started the call before the SDK received it. */
  startedCall: StartedCall | undefined
  #signal: AbortSignal | undefined

  /** Throws `INVALID_PARAMS` for malformed headers. */
  constructor(request: FastifyRequest, reply: FastifyReply, mount: Mount) {
    this.request = request
    this.reply = reply
    this.mount = mount
    this.sessionKey = parseSessionKey(request.headers)
    checkRequestId(request.headers)
  }

  get access(): Access | undefined {
    return this.request.access
  }

  get requestId(): string {
    return this.request.id
  }

  /** `CAUSEWAY_PUBLIC_URL`, or the address that the client uses. */
  get baseUrl(): string {
    const { request } = this
    const { publicUrl } = request.server
    if (publicUrl !== undefined) return publicUrl
    const url = new URL(`http://${request.headers.host}`)
    // An app's port does not serve the console.
    if (isAliasRequest(request)) url.port = String(getMainPort(request))
    return url.origin
  }

  /** Aborts if the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = new AbortController()
      this.onDisconnect((reason) => controller.abort(reason))
      this.#signal = controller.signal
    }
    return this.#signal
  }

  /** Calls `cancel` when the client disconnects or has disconnected. */
  onDisconnect(cancel: (reason: CausewayError) => void): void {
    const { raw } = this.reply
    const end = (): void => {
      if (!raw.writableFinished) cancel(new CausewayError('CANCELLED', 'the caller closed the connection'))
    }
    if (raw.closed) end()
    else raw.once('close', end)
  }

  /**
   * Client state is keyed by `Causeway-Session`, or else by the MCP session. Callers without either share one
   * state.
   */
  createCaller(sender: Sender): Caller {
    const key = this.sessionKey ?? sender.sessionId
    const { requestId, request } = this
    const { headers: requestHeaders, body } = request
    return {
      cancellation: sender.cancellation ?? this,
      address: this,
      mount: this.mount,
      era: sender.era,
      channel: sender.channel,
      deadlineMs: parseCount(requestHeaders[headers.causewayDeadline]),
      requestBytes: parseCount(requestHeaders['content-length']),
      trace: parseTrace(requestHeaders.traceparent),
      sessionKey: toStateKey(this.access, key ?? sharedKey),
      access: this.access,
      project: parseProject(request),
      sharedSession: key === undefined,
      client: sender.client ?? parseUserAgent(requestHeaders['user-agent']),
      requestId:
        Array.isArray(body) && sender.rpcId !== undefined ? `${requestId}.${sender.rpcId}` : requestId,
      progress: sender.progress ?? ignore,
      notify: sender.notify ?? ignore,
      input: sender.input,
    }
  }
}

const ignore = (): void => {}

const getMainPort = ({ server }: FastifyRequest): number => (server.server.address() as AddressInfo).port

export const isAliasRequest = (request: FastifyRequest): boolean =>
  request.socket.localPort !== getMainPort(request)

export function parseRequestId(requestHeaders: IncomingHttpHeaders): string | undefined {
  const id = requestHeaders[headers.causewayRequest]
  return typeof id === 'string' && requestIdPattern.test(id) ? id : undefined
}

function checkRequestId(requestHeaders: IncomingHttpHeaders): void {
  if (requestHeaders[headers.causewayRequest] === undefined || parseRequestId(requestHeaders) !== undefined)
    return
  throw new CausewayError('INVALID_PARAMS', 'Causeway-Request is not 1 to 256 visible ASCII characters', {
    remedy: 'shorten it, or leave the header out',
  })
}

/** Token owners do not share state, even if they name the same session. */
export function toStateKey(access: Access | undefined, key: string): string {
  const owner = getOwner(access)
  return owner === '' ? key : `${owner}:${key}`
}

export function parseSessionKey(requestHeaders: IncomingHttpHeaders): string | undefined {
  const key = requestHeaders[headers.causewaySession]
  if (key === undefined || (typeof key === 'string' && sessionKeyPattern.test(key))) return key
  throw new CausewayError('INVALID_PARAMS', 'Causeway-Session is not of the form [A-Za-z0-9._-]{1,128}', {
    remedy: 'send letters, digits, dots, underscores and hyphens, or leave the header out',
  })
}

const maxProjectLength = 4096
/**
 * Reads `Causeway-Project`, the folder in which processes start. Ignores it without a token, unless the caller is
 * on this machine. Throws `INVALID_PARAMS` for relative paths.
 */
function parseProject({
  headers: requestHeaders,
  access,
  ip,
}: Pick<FastifyRequest, 'headers' | 'access' | 'ip'>): string | undefined {
  const text = requestHeaders[headers.causewayProject]
  if (text === undefined || (access === undefined && !isLoopbackAddress(ip))) return undefined
  const path = typeof text === 'string' ? decodePercent(text) : undefined
  if (path !== undefined && isAbsolute(path) && path.length <= maxProjectLength && !path.includes('\0'))
    return path
  throw new CausewayError('INVALID_PARAMS', 'Causeway-Project is not a percent-encoded absolute path', {
    remedy: 'send the absolute path of the folder, or leave the header out',
  })
}

const parseCount = (text: string | string[] | undefined): number | undefined =>
  typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined

/** Parses text such as `curl/8.5.0` or `node`. */
export function parseUserAgent(userAgent: string | undefined): ClientInfo {
  const [, name, version] = /^([^/\s]{1,64})(?:\/([^/\s]{1,32}))?/.exec(userAgent ?? '') ?? []
  return { name: name ?? 'unknown', version: version ?? '0' }
}
