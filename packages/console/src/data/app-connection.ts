import { signal } from '@preact/signals'
import { ServerError } from './server.ts'
import type { Source } from './source.ts'

const protocolVersion = '2026-01-26'

/**
 * Time in ms after which a read-only tool is called again if its result did not arrive. A reloaded page may not
 * receive the result.
 */
const resultTimeoutMs = 5000

type Members = Readonly<Record<string, unknown>>

export interface AppResult {
  readonly structuredContent?: Members
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
}

/** The part of the host context that widgets use. A change contains only the changed members. */
interface HostContext {
  readonly theme?: string
  readonly styles?: { readonly variables?: Readonly<Record<string, string | undefined>> }
  readonly toolInfo?: { readonly tool?: { readonly name?: string; readonly annotations?: Members } }
}

interface HostCapabilities {
  readonly openLinks?: object
  readonly message?: object
  readonly updateModelContext?: object
}

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Members
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Members }
}

export class AppConnection implements Source {
  readonly arguments = signal<Members | undefined>(undefined)
  readonly result = signal<AppResult | undefined>(undefined)
  readonly cancelled = signal(false)
  readonly context = signal<HostContext>({})
  readonly capabilities = signal<HostCapabilities>({})
  readonly #host: Window
  readonly #pendingRequests = new Map<number, (message: Message) => void>()
  readonly #openPromise: Promise<unknown>
  #lastId = 0
  #context = ''
  #height = 0

  constructor(host: Window, name: string) {
    this.#host = host
    addEventListener('message', ({ source, data }) => {
      if (source === host) this.#receive(data as Message)
    })
    this.#openPromise = this.#open(name)
  }

  async call<T>(app: string, tool: string, args: object): Promise<T> {
    const result = await this.#request<AppResult & { readonly _meta?: Members }>('tools/call', {
      name: this.#getToolName(app, tool),
      arguments: args,
    })
    if (result.isError !== true) return result.structuredContent as T
    const error = result._meta?.['causeway/error'] as { code: string; message: string } | undefined
    throw new ServerError(error ?? { code: 'CALL_FAILED', message: result.content?.[0]?.text ?? '' })
  }

  async read<T>(_app: string, uri: string): Promise<T> {
    return JSON.parse((await this.#readContents(uri)).text ?? '') as T
  }

  async readBytes(uri: string): Promise<ArrayBuffer> {
    const { blob = '' } = await this.#readContents(uri)
    return Uint8Array.from(atob(blob), (character) => character.charCodeAt(0)).buffer
  }

  openLink(url: string): void {
    this.#request('ui/open-link', { url }).catch(() => {})
  }

  /** Sends a message to the model on behalf of the user. */
  ask(text: string): void {
    this.#request('ui/message', { role: 'user', content: [{ type: 'text', text }] }).catch(() => {})
  }

  /** Replaces the context that the model receives with the user's next message. */
  setModelContext(data: Members): void {
    const text = JSON.stringify(data)
    if (text === this.#context || this.capabilities.value.updateModelContext === undefined) return
    this.#context = text
    const context = { structuredContent: data, content: [{ type: 'text', text }] }
    this.#request('ui/update-model-context', context).catch(() => {
      // Allows sending the same context again.
      this.#context = ''
    })
  }

  setHeight(height: number): void {
    if (height === this.#height) return
    this.#height = height
    void this.#openPromise.then(() =>
      this.#send({ method: 'ui/notifications/size-changed', params: { height } }),
    )
  }

  async #open(name: string): Promise<void> {
    const { hostContext = {}, hostCapabilities = {} } = await this.#exchange<{
      hostContext?: HostContext
      hostCapabilities?: HostCapabilities
    }>('ui/initialize', {
      appInfo: { name: `causeway-${name}`, version: '1' },
      appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
      protocolVersion,
    })
    this.context.value = hostContext
    this.capabilities.value = hostCapabilities
    this.#send({ method: 'ui/notifications/initialized', params: {} })
  }

  /** Returns `Replay__get_frame` on the shared mount, and `get_frame` on the mount of one app. */
  #getToolName(app: string, tool: string): string {
    const listedName = this.context.value.toolInfo?.tool?.name
    if (listedName !== undefined && !listedName.includes('__')) return tool
    return `${app.charAt(0).toUpperCase()}${app.slice(1)}__${tool}`
  }

  async #readContents(uri: string): Promise<{ readonly text?: string; readonly blob?: string }> {
    const { contents } = await this.#request<{ contents: readonly { text?: string; blob?: string }[] }>(
      'resources/read',
      { uri },
    )
    return contents[0] ?? {}
  }

  async #request<T>(method: string, params: Members): Promise<T> {
    await this.#openPromise
    return this.#exchange<T>(method, params)
  }

  #exchange<T>(method: string, params: Members): Promise<T> {
    const id = ++this.#lastId
    return new Promise<T>((resolve, reject) => {
      this.#pendingRequests.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result as T)
        else reject(new ServerError({ code: String(error.code), ...error.data, message: error.message }))
      })
      this.#send({ id, method, params })
    })
  }

  #send(message: Message): void {
    // A sandboxed frame cannot read the origin of its host.
    this.#host.postMessage({ jsonrpc: '2.0', ...message }, '*')
  }

  #receive(message: Message): void {
    const { id, method, params = {} } = message ?? {}
    if (method === undefined) {
      this.#pendingRequests.get(id as number)?.(message)
      this.#pendingRequests.delete(id as number)
    } else if (id === undefined) this.#notify(method, params)
    else if (method === 'ping' || method === 'ui/resource-teardown') this.#send({ id, result: {} })
    else this.#send({ id, error: { code: -32601, message: `not supported: ${method.slice(0, 100)}` } })
  }

  #notify(method: string, params: Members): void {
    switch (method) {
      case 'ui/notifications/tool-input':
        this.arguments.value = (params.arguments ?? {}) as Members
        setTimeout(() => void this.#repeat(), resultTimeoutMs)
        break
      case 'ui/notifications/tool-result':
        this.result.value = params
        break
      case 'ui/notifications/tool-cancelled':
        this.cancelled.value = true
        break
      case 'ui/notifications/host-context-changed':
        this.context.value = { ...this.context.value, ...params }
    }
  }

  async #repeat(): Promise<void> {
    const { name, annotations } = this.context.value.toolInfo?.tool ?? {}
    if (this.result.value !== undefined || this.cancelled.value || name === undefined) return
    if (annotations?.readOnlyHint !== true) return
    const result = await this.#request<AppResult>('tools/call', {
      name,
      arguments: this.arguments.value ?? {},
    }).catch(({ message }: Error): AppResult => {
      return { isError: true, content: [{ type: 'text', text: `CALL_FAILED: ${message}` }] }
    })
    this.result.value ??= result
  }
}
