/** A conversation with a server over HTTP, recorded as text that a person can read. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { WebSocket } from 'ws'
import { formatBody } from './format-body.ts'

/** A request. Objects are sent as JSON, text and streams as they are. */
export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Recorded instead of a body that is too long or malformed. */
  readonly shownBody?: string
}

/** A response, read to its end. */
export interface Received {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: whatever the case expects
  readonly json: any
}

const timeoutMs = 20_000

/** Headers that are recorded only if they are missing or different. `date` may have any value. */
const usualHeaders = { connection: 'keep-alive', 'keep-alive': 'timeout=72', vary: 'Origin', date: 'any' }

/**
 * Records the requests and responses of one case. Lines that begin with `>` are sent, lines that begin with `<` are received;
 * `--` describes what the client does otherwise. Response headers are sorted; the usual ones are left out.
 */
export class Transcript {
  readonly #origin: string
  readonly #lines: string[] = []
  readonly #agent = new Agent({ keepAlive: true })
  readonly #streams: EventStream[] = []
  readonly #sockets: SocketTranscript[] = []

  /** `origin` is `http://127.0.0.1:3100`. */
  constructor(origin: string) {
    this.#origin = origin
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  /** Describes an action of the client that is not a request. */
  note(text: string): void {
    this.#lines.push(`-- ${text}`)
  }

  /** Sends a request and records the whole response. */
  async send(sent: Sent): Promise<Received> {
    const response = await this.#request(sent)
    const text = await readText(response)
    this.#recordHead(response, text)
    this.#recordLines('<', formatResponse(response, text))
    return { status: response.statusCode ?? 0, headers: response.headers, json: parse(text) }
  }

  /** Sends a request without recording it. */
  async sendUnrecorded(sent: Sent): Promise<Received> {
    const response = await this.#begin(sent)
    const text = await readText(response)
    return { status: response.statusCode ?? 0, headers: response.headers, json: parse(text) }
  }

  /** Sends a request whose response is an event stream, and records its head. The events are recorded as they are read. */
  async open(sent: Sent): Promise<EventStream> {
    const response = await this.#request(sent)
    this.#recordHead(response)
    const number = this.#streams.length + 1
    const stream = new EventStream(response, (lines) => this.#recordLines(`<${number}`, lines))
    this.#streams.push(stream)
    this.note(`the response is stream ${number}`)
    return stream
  }

  /** Sends a request and closes its connection when `isTime` resolves. */
  async hangUp(sent: Sent, isTime: () => Promise<void>): Promise<void> {
    this.#recordSent(sent)
    const { request, response } = this.#start(sent)
    response.catch(() => {})
    await isTime()
    request.destroy()
    this.note('the client closes the connection')
  }

  /** Opens a WebSocket; records the response if the server refuses. */
  async connect(path: string, headers: Readonly<Record<string, string>> = {}): Promise<SocketTranscript> {
    this.#recordLines('>', [`WebSocket ${path}`, ...formatHeaders(headers)])
    const socket = new SocketTranscript(new WebSocket(`${this.#origin}${path}`, { headers }), {
      record: (lines) => this.#recordLines('<', lines),
      recordSent: (text) => this.#recordLines('>', [`frame: ${text}`]),
      recordRefusal: (response, text) => {
        this.#recordHead(response, text)
        this.#recordLines('<', formatBody(text))
      },
    })
    this.#sockets.push(socket)
    await socket.opened
    return socket
  }

  /** Closes everything that is open. */
  close(): void {
    for (const stream of this.#streams) stream.close()
    for (const socket of this.#sockets) socket.terminate()
    this.#agent.destroy()
  }

  #request(sent: Sent): Promise<IncomingMessage> {
    this.#recordSent(sent)
    return this.#begin(sent)
  }

  #recordSent({ method = 'POST', path, headers = {}, body, shownBody }: Sent): void {
    const shown = shownBody ?? (body === undefined ? '' : serialize(body).toString())
    this.#recordLines('>', [
      `${method} ${path}`,
      ...formatHeaders(headers),
      ...(shown === '' ? [] : formatBody(shown)),
    ])
  }

  #begin(sent: Sent): Promise<IncomingMessage> {
    return this.#start(sent).response
  }

  #start({ method = 'POST', path, headers = {}, body }: Sent): {
    request: ClientRequest
    response: Promise<IncomingMessage>
  } {
    const bytes = body === undefined || isStream(body) ? undefined : Buffer.from(serialize(body))
    const length = bytes === undefined ? {} : { 'content-length': bytes.length }
    const request = httpRequest(`${this.#origin}${path}`, {
      method,
      headers: { ...length, ...headers },
      agent: this.#agent,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      request.on('error', reject)
    })
    if (isStream(body)) body.pipe(request)
    else request.end(bytes)
    return { request, response }
  }

  /** Records the status and the headers, except those that every response has. */
  #recordHead({ statusCode, headers }: IncomingMessage, text = ''): void {
    const shown: Record<string, string | string[] | undefined> = { ...headers }
    for (const [name, usual] of Object.entries(usualHeaders))
      if (shown[name] === usual) delete shown[name]
      else shown[name] ??= '(none)'
    if (shown.date !== '(none)') delete shown.date
    if (shown['content-length'] === String(Buffer.byteLength(text))) shown['content-length'] = '(exact)'
    this.#recordLines('<', [String(statusCode), ...formatHeaders(shown).sort()])
  }

  #recordLines(mark: string, lines: readonly string[]): void {
    this.#lines.push(...lines.map((line) => `${mark} ${line}`.trimEnd()))
  }
}

/** One event of a stream, without its comments. */
interface StreamEvent {
  readonly lines: readonly string[]
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: whatever the case expects
  readonly json: any
}

/** An open event stream. */
export class EventStream {
  readonly #response: IncomingMessage
  readonly #events: AsyncGenerator<StreamEvent>
  readonly #record: (lines: readonly string[]) => void

  constructor(response: IncomingMessage, record: (lines: readonly string[]) => void) {
    this.#response = response
    this.#events = parseEvents(response)
    this.#record = record
  }

  /** Reads and records one event. */
  async next(): Promise<StreamEvent> {
    const { value, done } = await this.#events.next()
    if (done === true) throw new Error('the stream has ended')
    this.#record(value.lines)
    return value
  }

  /** Reads and records the events up to the end of the stream. */
  async end(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = []
    for await (const event of this.#events) {
      this.#record(event.lines)
      events.push(event)
    }
    this.#record(['(end of the stream)'])
    return events
  }

  close(): void {
    this.#response.destroy()
  }
}

async function* parseEvents(response: IncomingMessage): AsyncGenerator<StreamEvent> {
  let rest = ''
  for await (const chunk of response.setEncoding('utf8')) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'))
      if (fields.length === 0) continue
      const field = (name: string) =>
        fields.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
      yield { lines: fields.flatMap(formatField), id: field('id')?.trim(), json: parse(field('data') ?? '') }
    }
  }
  if (rest !== '') yield { lines: formatBody(rest), id: undefined, json: parse(rest) }
}

function formatResponse({ headers }: IncomingMessage, text: string): string[] {
  if (text === '') return []
  if (headers['content-type'] !== 'text/event-stream') return formatBody(text)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap(formatField)
}

function formatField(line: string): string[] {
  if (!line.startsWith('data: {')) return [line]
  const [first = '', ...more] = formatBody(line.slice('data: '.length))
  return [`data: ${first}`, ...more]
}

/** A WebSocket whose frames are recorded as they are read. */
export class SocketTranscript {
  readonly #socket: WebSocket
  readonly #received: string[] = []
  readonly #recordSent: (text: string) => void
  readonly #record: (lines: readonly string[]) => void
  #notify = (): void => {}
  /** Resolves when the connection is open, or refused and its response recorded. */
  readonly opened: Promise<void>

  constructor(
    socket: WebSocket,
    {
      record,
      recordSent,
      recordRefusal,
    }: {
      record: (lines: readonly string[]) => void
      recordSent: (text: string) => void
      recordRefusal: (response: IncomingMessage, text: string) => void
    },
  ) {
    this.#socket = socket
    this.#record = record
    this.#recordSent = recordSent
    const push = (text: string): void => {
      this.#received.push(text)
      this.#notify()
    }
    socket.on('message', (data, isBinary) => push(isBinary ? `binary frame: ${data}` : `frame: ${data}`))
    socket.on('close', (code, reason) => push(`close ${code} ${reason}`))
    socket.on('error', () => {})
    this.opened = new Promise((resolve, reject) => {
      socket.once('open', () => resolve())
      socket.once('unexpected-response', (_request, response) => {
        readText(response).then((text) => resolve(recordRefusal(response, text)), reject)
      })
    })
  }

  send(data: string | Uint8Array): void {
    this.#recordSent(typeof data === 'string' ? data : `(${data.length} bytes)`)
    this.#socket.send(data)
  }

  /** Reads and records one frame, or the end of the connection. */
  async next(): Promise<void> {
    if (this.#received.length === 0)
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    this.#record([this.#received.shift() ?? ''])
  }

  terminate(): void {
    this.#socket.terminate()
  }
}

const isStream = (body: unknown): body is Readable => typeof (body as Partial<Readable>)?.pipe === 'function'

const serialize = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)

const formatHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`))

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
