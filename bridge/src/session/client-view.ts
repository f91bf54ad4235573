import { asObject, meta } from '@causeway/protocol'
import { sendWithFallback } from '../http/fallback.ts'
import type { Exchange, HttpRequest, Reader, Upstream } from '../http/upstream.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import type { Stage } from '../stages/stage.ts'
import { parseJson } from '../stdio/json.ts'

/**
 * VS Code and other builds of its source accept 128 tools per request, including built-in ones. Windsurf accepts 100
 * (https://docs.windsurf.com/windsurf/cascade/mcp).
 */
const cappedClientPattern = /^(?:visual studio code|vscodium|code - oss|windsurf)\b/i

/**
 * Selects the view by the client's name in the first message: core for clients with a tool limit, otherwise full.
 * Falls back to full if the server has no core view.
 */
export class ClientView {
  readonly #path: string
  readonly #log: Log
  #state: 'unknown' | 'full' | 'core' | 'core-unconfirmed' = 'unknown'

  /** `path` is the path of the full view. */
  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
  }

  get path(): string {
    return this.#state.startsWith('core') ? `${this.#path}/core` : this.#path
  }

  readonly stage: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => {
      if (this.#state === 'unknown') this.#choose(findClientName(parseJson(line)))
      toServer(line)
    },
    toClient,
  })

  wrap(upstream: Upstream): Upstream {
    const send = (request: HttpRequest, reader: Reader): Exchange =>
      upstream.send({ path: this.path, ...request }, reader)
    return {
      ...upstream,
      send: (request, reader) =>
        request.method === 'POST' && request.path === undefined && this.#state === 'core-unconfirmed'
          ? this.#probe(send, request, reader)
          : send(request, reader),
    }
  }

  #choose(client: string | undefined): void {
    if (client === undefined) return
    this.#state = cappedClientPattern.test(client) ? 'core-unconfirmed' : 'full'
    this.#log(`client ${client}, ${this.#state === 'full' ? 'full' : 'core'} view`)
  }

  #probe(send: Upstream['send'], request: HttpRequest, reader: Reader): Exchange {
    return sendWithFallback((gatedReader) => send(request, gatedReader), {
      reader,
      maxBytes: 0,
      shouldHold: (status) => {
        if (status !== 404) this.#state = 'core'
        return status === 404
      },
      replace: async () => {
        this.#state = 'full'
        this.#log('the server has no core view')
        return send(request, reader)
      },
    })
  }
}

function findClientName(line: unknown): string | undefined {
  for (const message of [line].flat()) {
    const { clientInfo, _meta } = asObject(asObject(message).params)
    const { name } = asObject(clientInfo ?? asObject(_meta)[meta.clientInfo])
    if (typeof name === 'string') return name
  }
  return undefined
}
