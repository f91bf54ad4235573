/** Answers of the SDK alone, to compare the short ways with: they must be the same. */
import { randomUUID } from 'node:crypto'
import { modernVersion } from '@causeway/protocol'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Era, Mount } from '../../src/core.ts'
import { openAsking } from '../../src/http/asking.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { sdkServer } from '../../src/http/sdk-server.ts'
import { openTasks } from '../../src/tasks/tasks.ts'
import { both, modern, type Wire } from './open-wire.ts'

/** A message for one mount in one era. */
export interface Sent {
  readonly path: Mount['path']
  readonly era: Era
  readonly message: { readonly method: string; readonly params?: object; readonly id?: string | number }
}

/** The answer by the shortest way that the server knows. */
export async function answered(wire: Wire, { path, era, message }: Sent) {
  if (era === 'modern') {
    const { body, headers } = modern(message)
    return (await wire.send(body, { path, headers })).json
  }
  const id = await wire.initialize({ path })
  const { messages } = await wire.stream(message, { path, headers: { ...both, 'mcp-session-id': id } })
  return (await messages.next()).value
}

/** The same through the SDK alone: a handler of the stateless leg, and an array, which has no short way. */
export async function throughSdk(wire: Wire, { path, era, message }: Sent) {
  if (era === 'modern') {
    const { body, headers } = modern(message)
    const mount = wire.core.mounts().find((one) => one.path === path) as Mount
    const client = { name: 'raw-modern', version: '2' }
    const { signal } = new AbortController()
    const exchange: Exchange = {
      mount,
      requestId: 'r',
      session: undefined,
      client,
      signal,
      isBatch: false,
      access: undefined,
      deadlineMs: undefined,
      requestBytes: undefined,
      trace: undefined,
    }
    const tasks = await openTasks({
      store: wire.core.tasks,
      log: wire.logged.log,
      now: Date.now,
      newId: randomUUID,
    })
    const handler = createMcpHandler(() =>
      sdkServer({
        wiring: { core: wire.core, log: wire.logged.log, asking: openAsking(wire.core.signingKey), tasks },
        mount,
        era,
        versions: [modernVersion],
        exchangeOf: () => exchange,
        sender: () => ({ capabilities: undefined, channel: 'mcp' }),
      }),
    )
    const asked = new Request('http://localhost/', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    })
    return (await handler.fetch(asked, { parsedBody: body })).json()
  }
  const id = await wire.initialize({ path })
  const { messages } = await wire.stream([message], { path, headers: { ...both, 'mcp-session-id': id } })
  return (await messages.next()).value
}
