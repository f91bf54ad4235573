import { until } from '../e2e/condition.ts'
import { type Sent, Transcript } from './transcript.ts'

/** A part of the corpus: what is sent and received on one route. */
export interface Route {
  /** Name of its file, without extension. */
  readonly name: string
  readonly cases: readonly Case[]
}

/** A request of a case. In a session, it needs `Mcp-Session-Id`. */
type CaseRequest = Sent & { readonly isInSession?: boolean }

/** One conversation, recorded under its title. */
export interface Case {
  readonly title: string
  readonly run: (c: Conversation) => Promise<unknown>
  /** The requests, if the case only sends requests that are known beforehand. */
  readonly requests?: readonly CaseRequest[]
}

/** A transcript with the means to control the sample app. */
export class Conversation extends Transcript {
  /** Origin of the server that has the sample app's state. */
  readonly #control: string
  readonly #controlHeaders: Readonly<Record<string, string>>

  constructor(
    origin: string,
    { control = origin, token }: { readonly control?: string; readonly token?: string } = {},
  ) {
    super(origin)
    this.#control = control
    this.#controlHeaders = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
  }

  /** Resolves when this number of calls waits for `release`. */
  async untilWaiting(calls: number): Promise<void> {
    await until(
      () => this.#callSample('waiting'),
      (result) => result.calls === calls,
    )
  }

  /** Ends the waiting calls. */
  async release(): Promise<void> {
    // Responses may arrive before that of the release.
    this.note('the waiting calls are released')
    await this.#callSample('release')
  }

  /** Changes the list of tools. Cases call it an even number of times, which restores the list. */
  async toggleExtra(): Promise<void> {
    this.note('the list of tools changes')
    const { extra } = await this.#callSample('toggle_extra')
    await until(
      () => this.#isListed('extra'),
      (isListed) => isListed === extra,
    )
  }

  async #isListed(name: string): Promise<boolean> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })
    const response = await fetch(`${this.#control}/mcp/sample`, {
      method: 'POST',
      headers: this.#controlHeaders,
      body,
    })
    return 'result' in ((await response.json()) as object)
  }

  /** Calls a tool of the sample app without recording it. */
  // biome-ignore lint/suspicious/noExplicitAny: the result of a tool
  async #callSample(tool: string): Promise<any> {
    const response = await fetch(`${this.#control}/api/apps/sample/tools/${tool}`, {
      method: 'POST',
      headers: this.#controlHeaders,
      body: '{}',
    })
    return response.json()
  }
}

/** Returns a case that sends requests one after the other. */
export const sends = (title: string, ...requests: readonly Sent[]): Case => ({
  title,
  requests,
  run: async (c) => {
    for (const request of requests) await c.send(request)
  },
})
