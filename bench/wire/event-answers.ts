import type { Pool } from 'undici'

interface Waiting {
  resolve(json: string): void
  reject(error: Error): void
}

/** The event stream of an HTTP+SSE client. It contains the answers to the messages that the client posts. */
export class EventAnswers {
  readonly #waiting = new Map<number, Waiting>()

  /** Opens the stream, and returns it with the path for messages. */
  static async open(pool: Pool, path: string): Promise<{ endpoint: string; answers: EventAnswers }> {
    const { body } = await pool.request({ method: 'GET', path })
    const answers = new EventAnswers()
    const endpoint = await new Promise<string>((resolve, reject) => {
      answers.#read(body, resolve).catch((error: Error) => {
        reject(error)
        for (const waiting of answers.#waiting.values()) waiting.reject(error)
      })
    })
    return { endpoint, answers }
  }

  /** Resolves to the answer with this id. Must be called before its message is sent. */
  waitFor(id: number): Promise<string> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  async #read(body: AsyncIterable<Buffer>, onEndpoint: (path: string) => void): Promise<void> {
    let text = ''
    for await (const chunk of body) {
      const events = `${text}${chunk}`.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data === undefined) continue // a keep-alive comment
        if (event.startsWith('event: endpoint')) onEndpoint(data)
        else this.#settle(data)
      }
    }
    throw new Error('the event stream has ended')
  }

  /** Does not parse the answer, because clients of other transports do not either. */
  #settle(json: string): void {
    const id = Number(/^\{"jsonrpc":"2.0","id":(\d+)|"id":(\d+)\}$/.exec(json)?.slice(1).join(''))
    this.#waiting.get(id)?.resolve(json)
    this.#waiting.delete(id)
  }
}
