/** A raw JSON-RPC client with its own session, over HTTP or through the bridge. */
import type { Test } from 'tap'
import { initializeParams } from '../../bridge/test/client.ts'
import { Sightings } from '../../bridge/test/sightings.ts'
import type { Channel } from '../requirement.ts'
import { openBridge } from './bridge-process.ts'
import { until } from './condition.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
type Message = any

/** The common interface of the HTTP client and the bridge client. */
export interface Peer {
  /** Every received message, in order. */
  readonly messages: Sightings<Message>
  send(...messages: Message[]): void
  /** Sends a request and returns its response. */
  call(id: string | number, method: string, params?: object): Promise<Message>
  answer(id: unknown): Promise<Message>
  /** Returns the first server message with this method. */
  saw(method: string): Promise<Message>
}

/** Opens a legacy session with a stream of server messages. It is closed at the end of the test. */
export async function openPeer(t: Test, channel: Channel, url: string, path = '/mcp'): Promise<Peer> {
  if (channel === 'http') return HttpPeer.open(t, `${url}${path}`)
  return openBridge(t, { url: `${url}${path}` })
}

/**
 * Changes a note of the probe app until the peer is notified. The bridge opens its stream after the handshake, and earlier
 * notifications are lost.
 */
export async function untilListening(peer: Peer): Promise<void> {
  await peer.call('subscribe', 'resources/subscribe', { uri: note })
  let writes = 0
  const write = async () => {
    await peer.call(`write-${++writes}`, 'tools/call', {
      name: 'Probe__write',
      arguments: { text: `${writes}` },
    })
    return peer.messages.all
  }
  await until(write, (all) =>
    all.some(({ method, params }) => method === 'notifications/resources/updated' && params.uri === note),
  )
  await peer.call('unsubscribe', 'resources/unsubscribe', { uri: note })
}

const note = 'probe://notes/a'

/** Posts each message and receives server messages on a GET stream. */
class HttpPeer implements Peer {
  readonly messages = new Sightings<Message>()
  readonly #url: string
  readonly #end = new AbortController()
  #session: Readonly<Record<string, string>> = {}

  constructor(url: string) {
    this.#url = url
  }

  static async open(t: Test, url: string): Promise<HttpPeer> {
    const peer = new HttpPeer(url)
    t.teardown(() => peer.#end.abort())
    await peer.call('open', 'initialize', initializeParams)
    await peer.#post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const stream = await peer.#fetch({ method: 'GET' })
    peer.#read(stream).catch(peer.#recordFailure)
    return peer
  }

  send(...messages: Message[]): void {
    for (const message of messages) this.#post(message).catch(this.#recordFailure)
  }

  call(id: string | number, method: string, params: object = {}): Promise<Message> {
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.answer(id)
  }

  answer(id: unknown): Promise<Message> {
    return this.messages.first(
      `the response ${JSON.stringify(id)}`,
      (message) => message.id === id && message.method === undefined,
    )
  }

  saw(method: string): Promise<Message> {
    return this.messages.first(method, (message) => message.method === method)
  }

  async #post(message: Message): Promise<void> {
    const response = await this.#fetch({ method: 'POST', body: JSON.stringify(message) })
    const id = response.headers.get('mcp-session-id')
    if (id !== null) this.#session = { 'mcp-session-id': id }
    await this.#read(response)
  }

  #fetch(init: RequestInit): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...this.#session,
    }
    return fetch(this.#url, { ...init, headers, signal: this.#end.signal })
  }

  /** Reads a response or a stream to its end. */
  async #read(response: Response): Promise<void> {
    if (response.headers.get('content-type')?.startsWith('application/json') === true)
      return this.messages.push(await response.json())
    let rest = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + chunk).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (data !== undefined) this.messages.push(JSON.parse(data))
      }
    }
  }

  /** Records an aborted stream as a message; a test that waits for another message times out. */
  readonly #recordFailure = (error: unknown): void => this.messages.push({ failed: String(error) })
}
