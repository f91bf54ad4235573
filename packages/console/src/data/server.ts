import { signal } from '@preact/signals'

export class ServerError extends Error {
  readonly code: string
  readonly remedy: string
  readonly data: unknown
  /** Whether the same request may succeed later: the server is busy, stopping or not reachable. */
  readonly retryable: boolean

  constructor({ code, message, remedy = '', data, retryable = false }: ErrorFields) {
    super(message)
    this.code = code
    this.remedy = remedy
    this.data = data
    // Another attempt would exceed the deadline too.
    this.retryable = retryable && code !== 'DEADLINE_EXCEEDED'
  }
}

/** Converts any thrown value to an error that a page shows. */
export const toServerError = (error: unknown): ServerError =>
  error instanceof ServerError
    ? error
    : new ServerError({ code: 'PAGE_ERROR', message: error instanceof Error ? error.message : String(error) })

const retryDelayMs = 1000

export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, retryDelayMs))

/**
 * Repeats an attempt while the server is busy, stopping or not reachable. Throws all other errors, and any error
 * after an abort.
 */
export async function retryUnavailable<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      // Browsers report an interrupted stream as a TypeError.
      const isUnavailable = error instanceof TypeError || (error instanceof ServerError && error.retryable)
      if (signal.aborted || !isUnavailable) throw error
    }
    await pause()
    signal.throwIfAborted()
  }
}

interface ErrorFields {
  readonly code: string
  readonly message: string
  readonly remedy?: string
  readonly data?: unknown
  readonly retryable?: boolean
}

export interface ContentBlock {
  readonly type: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
  readonly uri?: string
}

export interface ToolResult {
  readonly structured: unknown
  readonly content: readonly ContentBlock[]
  readonly error: ServerError | undefined
  readonly ms: number
  readonly bytes: number
  readonly requestId: string
}

const tokenKey = 'causeway.token'
const sessionKey = 'causeway.session'

/** Returns 32 random hex digits. `crypto.randomUUID` requires localhost or HTTPS. */
export const createId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

/** The server of this page. If it requires tokens, every request has the token of this tab. */
export class Server {
  readonly needsToken = signal(false)
  readonly isTokenRejected = signal(false)
  readonly hasToken = signal(sessionStorage.getItem(tokenKey) !== null)
  readonly isReachable = signal(true)
  readonly #session: string
  #token = sessionStorage.getItem(tokenKey) ?? ''

  constructor() {
    this.#session = sessionStorage.getItem(sessionKey) ?? `console-${createId()}`
    sessionStorage.setItem(sessionKey, this.#session)
  }

  setToken(token: string): void {
    this.#token = token
    sessionStorage.setItem(tokenKey, token)
    this.hasToken.value = true
    this.isTokenRejected.value = false
    this.needsToken.value = false
  }

  async get<T>(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<T> {
    return this.#read<T>(path, options)
  }

  async getBytes(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<ArrayBuffer> {
    const response = await this.#fetch(path, options)
    return response.arrayBuffer().catch((error: unknown) => this.#fail(error, options.signal))
  }

  openStream(
    path: string,
    { lastEventId, signal }: { readonly lastEventId: string; readonly signal: AbortSignal },
  ): Promise<Response> {
    const headers: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
    return this.#fetch(path, { signal, headers })
  }

  /** Sends a POST request without a body. Throws `ServerError`. */
  async send<T>(path: string): Promise<T> {
    return this.#read<T>(path, { method: 'POST' })
  }

  /** Sends a file, which the browser reads in parts. Throws `ServerError`. */
  async upload<T>(
    path: string,
    body: Blob,
    { type, ...options }: { readonly type: string } & Required<Pick<FetchOptions, 'signal' | 'onProgress'>>,
  ): Promise<T> {
    const headers = { 'content-type': type }
    return this.#read<T>(path, { ...options, body, headers, method: 'PUT' })
  }

  /**
   * Returns a name shared by tabs with the same access. Returns `undefined` if the browser cannot share, which
   * requires localhost or HTTPS.
   */
  async getSharedName(path: string): Promise<string | undefined> {
    if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return undefined
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(this.#token))
    return `causeway ${Array.from(new Uint8Array(digest)).join('.')} ${path}`
  }

  async delete(path: string): Promise<void> {
    await this.#fetch(path, { method: 'DELETE' })
  }

  /** Returns the structured result of a tool. `requestId` makes a change safe to repeat. Throws `ServerError`. */
  async call<T>(
    app: string,
    tool: string,
    args: object,
    options: { readonly signal?: AbortSignal; readonly requestId?: string } = {},
  ): Promise<T> {
    return this.#read<T>(`/api/apps/${app}/tools/${tool}`, { ...options, body: JSON.stringify(args) })
  }

  async read<T>(app: string, uri: string, options: { readonly signal?: AbortSignal } = {}): Promise<T> {
    const { contents } = await this.#request<{ contents: readonly [{ text: string }] }>(
      app,
      { method: 'resources/read', params: { uri } },
      options,
    )
    return JSON.parse(contents[0].text) as T
  }

  async listResources(
    app: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly { readonly uri: string; readonly name: string }[]> {
    const resourceList = await this.#request<{
      resources: readonly { readonly uri: string; readonly name: string }[]
    }>(app, { method: 'resources/list', params: {} }, options)
    return resourceList.resources
  }

  async #request<T>(app: string, message: object, options: { readonly signal?: AbortSignal }): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
    const { result, error } = await this.#read<{ result?: T; error?: RpcResponse['error'] }>(`/mcp/${app}`, {
      ...options,
      body,
    })
    if (result === undefined)
      throw new ServerError({
        code: String(error?.code ?? ''),
        message: error?.message ?? 'the request failed',
        ...error?.data,
      })
    return result
  }

  /** Calls a tool as an MCP client does. Throws `ServerError` if there is no result. */
  async callTool(
    app: string,
    tool: string,
    args: unknown,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<ToolResult> {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args },
    })
    const start = performance.now()
    const response = await this.#fetch(`/mcp/${app}`, { ...options, body })
    const text = await response.text().catch((error: unknown) => this.#fail(error, options.signal))
    const ms = performance.now() - start
    const { result, error } = JSON.parse(text) as RpcResponse
    const failure =
      error === undefined ? result?._meta?.['causeway/error'] : (error.data ?? { code: String(error.code) })
    return {
      structured: result?.structuredContent,
      content: result?.content ?? [],
      error:
        failure === undefined
          ? undefined
          : new ServerError({ message: error?.message ?? 'the call failed', ...failure }),
      ms,
      bytes: new TextEncoder().encode(text).length,
      requestId: response.headers.get('causeway-request') ?? '',
    }
  }

  async #read<T>(path: string, options: FetchOptions): Promise<T> {
    const response = await this.#fetch(path, options)
    return response.json().catch((error: unknown) => this.#fail(error, options.signal))
  }

  async #fetch(
    path: string,
    { body, signal, method, requestId, headers: more, onProgress }: FetchOptions,
  ): Promise<Response> {
    const headers: Record<string, string> = {
      accept: 'application/json, text/event-stream',
      'causeway-session': this.#session,
      ...more,
    }
    if (body !== undefined) headers['content-type'] ??= 'application/json'
    if (requestId !== undefined) headers['causeway-request'] = requestId
    const token = this.#token
    if (token !== '') headers.authorization = `Bearer ${token}`
    const request: RequestInit = {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body }),
      ...(method === undefined ? {} : { method }),
      ...(signal === undefined ? {} : { signal }),
    }
    const answer =
      onProgress === undefined ? fetch(path, request) : sendWithProgress(path, request, onProgress)
    const response = await answer.catch((error: unknown) => this.#fail(error, signal))
    this.isReachable.value = true
    // Ignores a late response to an older token.
    if (response.status === 401 && token === this.#token) {
      this.isTokenRejected.value = token !== ''
      this.needsToken.value = true
    }
    // The MCP endpoint reports errors of calls in the response body.
    if (response.ok || path.startsWith('/mcp/')) return response
    const failure = (await response.json().catch(() => undefined)) as ErrorFields | undefined
    throw new ServerError(
      failure ?? { code: `HTTP_${response.status}`, message: 'the server sent no error object' },
    )
  }

  /** Throws the error for a request that got no response, or only a part of it. */
  #fail(error: unknown, signal: AbortSignal | undefined): never {
    if (signal?.aborted || error instanceof SyntaxError) throw error
    this.isReachable.value = false
    throw new ServerError({
      code: 'UNREACHABLE',
      message: 'the server does not answer',
      remedy: 'start it with npm start',
      retryable: true,
    })
  }
}

interface FetchOptions {
  /** Identifies a change, so that it is safe to repeat. */
  readonly requestId?: string
  readonly body?: string | Blob
  readonly signal?: AbortSignal
  readonly method?: 'DELETE' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly onProgress?: (sentBytes: number) => void
}

/** Replaces `fetch` if upload progress is reported, which `fetch` does not support. */
const sendWithProgress = (
  path: string,
  { method = 'GET', headers, body, signal }: RequestInit,
  onProgress: (sentBytes: number) => void,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }))
    request.onerror = () => reject(new TypeError('the request failed'))
    request.onabort = () => reject(signal?.reason)
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(body as Blob)
  })

interface RpcResponse {
  readonly result?: {
    readonly structuredContent?: unknown
    readonly content?: readonly ContentBlock[]
    readonly _meta?: { readonly 'causeway/error'?: { code: string; message: string } }
  }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { code: string; message: string }
  }
}
