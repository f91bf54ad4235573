import type { IncomingMessage } from 'node:http'
import {
  type CallToolResult,
  CausewayError,
  headers,
  isObject,
  meta,
  modernVersion,
  nodeHttp,
} from '@causeway/protocol'
import { ServerError } from '../errors.ts'
import type { describeApp, summarizeApp } from '../http/rest/rest.ts'
import { findServer } from '../process/server-file.ts'
import { version } from '../process/version.ts'
import type { CommandCall } from './command.ts'
import { fetchHealth, readFirstToken, toLocalUrl } from './server-health.ts'

export type AppSummary = ReturnType<typeof summarizeApp>
export type AppDescription = ReturnType<typeof describeApp>
export type ToolDescription = AppDescription['tools'][number]

interface ToolCall {
  readonly path: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly session: string | undefined
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

type RpcMessage = {
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

interface RequestOptions {
  readonly body?: string
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export class ServerClient {
  readonly url: string
  readonly #token: string | undefined

  constructor(url: string, token: string | undefined) {
    this.url = toLocalUrl(url)
    this.#token = token
  }

  static findRunning({ config }: Pick<CommandCall, 'config'>): ServerClient | undefined {
    const { dataDir, tokenFile } = config()
    const serverState = findServer(dataDir)
    if (serverState.state !== 'running') return undefined
    const { url, token_file } = serverState.server
    return new ServerClient(url, readFirstToken(token_file ?? tokenFile))
  }

  /**
   * Finds the server on the port of the command line, otherwise that of the data folder, otherwise that on the
   * configured port. Throws `SERVER_NOT_RUNNING`.
   */
  static async find({
    config,
    commandLine,
    note,
  }: Pick<CommandCall, 'config' | 'commandLine' | 'note'>): Promise<ServerClient> {
    const client = ServerClient.findRunning({ config })
    const { dataDir, host, port, tokenFile } = config()
    const isPortRequested = commandLine.settings.port !== undefined
    if (client !== undefined && (!isPortRequested || Number(new URL(client.url).port) === port)) return client
    const url = `http://${host}:${port}`
    const health = port === 0 ? undefined : await fetchHealth(url, tokenFile)
    if (health?.kind === 'report') {
      if (!isPortRequested)
        note(
          `no server uses ${dataDir}; using the server on port ${port} with data in ${health.report.data_dir}`,
        )
      return new ServerClient(url, readFirstToken(tokenFile))
    }
    throw new ServerError(
      'SERVER_NOT_RUNNING',
      client === undefined
        ? `no server uses ${dataDir}, and none listens on port ${port}`
        : `no server listens on port ${port}; the server of ${dataDir} listens on ${client.url}`,
    )
  }

  async listApps(): Promise<readonly AppSummary[]> {
    const { apps } = await this.get<{ apps: readonly AppSummary[] }>('/api/apps')
    return apps
  }

  /** Throws `ROUTE_NOT_FOUND`. */
  describeApp(path: string): Promise<AppDescription> {
    return this.get(`/api/apps/${encodeURIComponent(path)}`)
  }

  /** Aborting the signal cancels the call. Throws the error of a rejected call. */
  async callTool({ path, tool, args, session, signal, onProgress }: ToolCall): Promise<CallToolResult> {
    const _meta = {
      [meta.protocolVersion]: modernVersion,
      [meta.clientInfo]: { name: 'causeway-cli', version },
      [meta.clientCapabilities]: {},
      progressToken: 1,
    }
    const params = { name: tool, arguments: args, _meta }
    const response = await this.#send('POST', `/mcp/${path}`, {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        [headers.protocolVersion]: modernVersion,
        [headers.method]: 'tools/call',
        [headers.name]: tool,
        ...(session !== undefined && { [headers.causewaySession]: session }),
      },
    })
    for await (const message of readMessages(response)) {
      if (message.method === 'notifications/progress') onProgress(message.params as Progress)
      if (message.error !== undefined) throw toError(message.error)
      if (message.result !== undefined) return message.result as CallToolResult
    }
    throw new ServerError('SERVER_NOT_RUNNING', 'the server closed the connection before the result', {
      remedy: 'see causeway logs',
    })
  }

  get<Result>(path: string, signal?: AbortSignal): Promise<Result> {
    return this.#request('GET', path, signal === undefined ? {} : { signal })
  }

  post<Result>(path: string, body: object): Promise<Result> {
    return this.#request('POST', path, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  }

  async #request<Result>(method: string, path: string, options: RequestOptions): Promise<Result> {
    const response = await this.#send(method, path, options)
    const body: unknown = JSON.parse(await readText(response))
    if (response.statusCode === 200) return body as Result
    throw toError(body)
  }

  /** No timeout: a call may take minutes. */
  #send(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const authorization = this.#token && { authorization: `Bearer ${this.#token}` }
    const { body, signal, headers } = options
    return new Promise((resolve, reject) => {
      const request = nodeHttp().request(
        `${this.url}${path}`,
        { method, headers: { ...headers, ...authorization }, ...(signal && { signal }) },
        resolve,
      )
      request.on('error', (error: NodeJS.ErrnoException) =>
        reject(
          signal?.aborted
            ? error
            : new ServerError('SERVER_NOT_RUNNING', `cannot connect to ${this.url} (${error.code})`),
        ),
      )
      request.end(body)
    })
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return text
}

async function* readMessages(response: IncomingMessage): AsyncGenerator<RpcMessage> {
  if (!response.headers['content-type']?.startsWith('text/event-stream')) {
    yield toMessage(await readText(response))
    return
  }
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    const events = (text + chunk).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const lines = event.split('\n').filter((line) => line.startsWith('data:'))
      const data = lines.map((line) => line.slice(5)).join('\n')
      if (data.trim() !== '') yield toMessage(data)
    }
  }
}

function toMessage(text: string): RpcMessage {
  const message: unknown = JSON.parse(text)
  // Some rejections are HTTP errors without a JSON-RPC envelope.
  return isObject(message) && 'jsonrpc' in message ? message : { error: message }
}

export function toError(value: unknown): CausewayError {
  const { data, message } = value as { data?: unknown; message?: string }
  const details = (isObject(data) && 'code' in data ? data : value) as Partial<CausewayError>
  const { code = 'INTERNAL', remedy = 'see causeway logs' } = details
  const options = { remedy, ...(isObject(details.data) && { data: details.data }) }
  return new CausewayError(code as 'INTERNAL', details.message ?? message ?? 'the call failed', options)
}
