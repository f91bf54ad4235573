import { type Id, type JsonObject, meta } from '@causeway/protocol'
import { createIds } from '../../stdio/message.ts'
import { getMembers } from './message-shape.ts'

/** Limits how many URIs a change sends again. */
const maxUrisPerRequest = 1000

/** Each request occupies a connection. */
const maxRequests = 10

export const maxWatchedUris = maxUrisPerRequest * maxRequests

interface ListenRequest {
  /** `undefined` unless the request is sent. */
  id: Id | undefined
  readonly uris: Set<string>
}

interface Sender {
  listen(id: Id, notifications: JsonObject): void
  cancel(id: Id): void
}

/** A client's `subscriptions/listen` requests. A request can be replaced, but not changed. The first also covers the lists. */
export class ListenRequests {
  readonly #lists: readonly string[]
  readonly #send: Sender
  readonly #newId = createIds('listen')
  readonly #firstRequest: ListenRequest = { id: undefined, uris: new Set() }
  readonly #requests: ListenRequest[] = [this.#firstRequest]
  #isBehind = false

  constructor(lists: readonly string[], send: Sender) {
    this.#lists = lists
    this.#send = send
  }

  open(): void {
    for (const request of this.#requests) this.#replace(request)
  }

  watch(uri: string): boolean {
    let request = this.#findRequest(uri) ?? this.#requests.find(({ uris }) => uris.size < maxUrisPerRequest)
    if (request === undefined) {
      if (this.#requests.length === maxRequests) return false
      request = { id: undefined, uris: new Set() }
      this.#requests.push(request)
    }
    request.uris.add(uri)
    this.#replace(request)
    return true
  }

  unwatch(uri: string): void {
    const request = this.#findRequest(uri)
    if (request === undefined) return
    request.uris.delete(uri)
    this.#replace(request)
    if (request !== this.#firstRequest && request.uris.size === 0)
      this.#requests.splice(this.#requests.indexOf(request), 1)
  }

  /** Records the end. Returns a function that sends the request again; `undefined` for an unknown id. */
  end(id: unknown, { isRejected }: { isRejected: boolean }): (() => void) | undefined {
    const request = this.#requests.find((candidate) => candidate.id !== undefined && candidate.id === id)
    if (request === undefined) return undefined
    if (request === this.#firstRequest) this.#isBehind = true
    if (isRejected) request.id = undefined
    return () => {
      if (request.id !== undefined && request.id === id) this.#replace(request)
    }
  }

  /** Returns whether the lists may have changed without a notification. */
  acknowledge(params: unknown): boolean {
    const id = getMembers(params, '_meta')[meta.subscriptionId]
    if (!this.#isBehind || (id !== undefined && id !== this.#firstRequest.id)) return false
    this.#isBehind = false
    return true
  }

  #findRequest(uri: string): ListenRequest | undefined {
    return this.#requests.find(({ uris }) => uris.has(uri))
  }

  #replace(request: ListenRequest): void {
    const { id: previousId, uris } = request
    const notifications = {
      ...(request === this.#firstRequest &&
        Object.fromEntries(this.#lists.map((list) => [`${list}ListChanged`, true]))),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    }
    request.id = Object.keys(notifications).length === 0 ? undefined : this.#newId()
    if (request.id !== undefined) this.#send.listen(request.id, notifications)
    if (previousId !== undefined) this.#send.cancel(previousId)
  }
}
