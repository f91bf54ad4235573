/** A client that speaks raw JSON-RPC, over a session of its own on HTTP or through the bridge. */
import type { Test } from 'tap'
import { initializeParams } from '../../bridge/test/client.ts'
import { Sightings } from '../../bridge/test/sightings.ts'
import type { Channel } from '../requirement.ts'
import { openBridge } from './bridge-process.ts'
import { until } from './condition.ts'

// biome-ignore lint/suspicious/noExplicitAny: a message is whatever the test expects of it
type Message = any

/** What both ways have in common. */
export interface Peer {
  /** Every message that came, in order. */
  readonly messages: Sightings<Message>
  send(...messages: Message[]): void
  /** Sends a request and waits for its answer. */
  call(id: string | number, method: string, params?: object): Promise<Message>
  answer(id: unknown): Promise<Message>
  /** The first message of the server with this method. */
  saw(method: string): Promise<Message>
}

/** Opens a session of the legacy era that listens to the server; the test ends it. */
export async function openPeer(t: Test, channel: Channel, url: string, path = '/mcp'): Promise<Peer> {
  if (channel === 'http') return HttpPeer.open(t, `${url}${path}`)
  return openBridge(t, { url: `${url}${path}` })
}

/**
 * Waits until the server's own messages reach the peer, by changing a note of the probe app until it is told. The
 * bridge opens its stream behind the handshake; what the server says before that, nobody hears.
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

/** Over HTTP: each message is a POST, and what the server says by itself comes by a GET stream. */
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
    peer.#read(stream).catch(peer.#failed)
    return peer
  }

  send(...messages: Message[]): void {
    for (const message of messages) this.#post(message).catch(this.#failed)
  }

  call(id: string | number, method: string, params: object = {}): Promise<Message> {
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.answer(id)
  }

  answer(id: unknown): Promise<Message> {
    return this.messages.first(
      `the answer ${JSON.stringify(id)}`,
      (message) => message.id === id && message.method === undefined,
    )
  }

  saw(method: string): Promise<Message> {
    return this.messages.first(method, (message) => message.method === method)
  }

  async #post(message: Message): Promise<void> {
    const answer = await this.#fetch({ method: 'POST', body: JSON.stringify(message) })
    const id = answer.headers.get('mcp-session-id')
    if (id !== null) this.#session = { 'mcp-session-id': id }
    await this.#read(answer)
  }

  #fetch(init: RequestInit): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...this.#session,
    }
    return fetch(this.#url, { ...init, headers, signal: this.#end.signal })
  }

  /** Reads an answer or a stream to its end. */
  async #read(answer: Response): Promise<void> {
    if (answer.headers.get('content-type')?.startsWith('application/json') === true)
      return this.messages.push(await answer.json())
    let rest = ''
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + chunk).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (data !== undefined) this.messages.push(JSON.parse(data))
      }
    }
  }

  /** Streams are cut when the test or the server ends; a test that waits for more fails by its deadline. */
  readonly #failed = (error: unknown): void => this.messages.push({ failed: String(error) })
}
