import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { type EndpointOptions, openEndpoint, requireSameSpace } from '../src/index.ts'

interface Asked {
  readonly input: readonly string[]
  readonly authorization: string | undefined
  readonly url: string | undefined
}

/** Starts an endpoint. `answer` writes the n-th response, counted from 1. */
async function endpoint(t: Test, answer: (response: ServerResponse, asked: Asked, n: number) => void) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { input } = JSON.parse(text)
    const one = { input, authorization: request.headers.authorization, url: request.url }
    asked.push(one)
    answer(response, one, asked.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const delays: number[] = []
  const open = (options: Partial<EndpointOptions> = {}) => {
    const embedder = openEndpoint({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      model: 'a-model',
      dimensions: 2,
      wait: async (ms) => delays.push(ms),
      ...options,
    })
    t.teardown(() => embedder.close())
    return embedder
  }
  return { asked, delays, open }
}

const json = (response: ServerResponse, body: unknown) => response.end(JSON.stringify(body))
const vectors = (...list: unknown[]) => ({ data: list.map((embedding, index) => ({ index, embedding })) })

verifies('help:embed:endpoint', async (t) => {
  const { asked, open } = await endpoint(t, (response, { input }) =>
    json(response, {
      data: input.map((text, index) => ({ index, embedding: [Number(text), 0] })).reverse(),
    }),
  )
  const texts = Array.from({ length: 70 }, (_, i) => String(i % 2 === 0 ? 3 : -3))
  const progress: number[] = []
  const found = await open({ apiKey: 'secret' }).embedDocuments(texts, {
    progress: (done) => progress.push(done),
  })
  t.same([...(found[0] ?? [])], [1, 0], 'returns unit vectors in the order of the texts')
  t.same([...(found[69] ?? [])], [-1, 0])
  t.same(
    asked.map(({ input, authorization, url }) => [input.length, authorization, url]),
    [
      [64, 'Bearer secret', '/v1/embeddings'],
      [6, 'Bearer secret', '/v1/embeddings'],
    ],
  )
  t.same(progress, [64, 70])
})

verifies('help:embed:endpoint', 'a busy endpoint is retried after the delay in Retry-After', async (t) => {
  const { asked, delays, open } = await endpoint(t, (response, _asked, n) => {
    if (n === 1) response.writeHead(429, { 'retry-after': '2' }).end()
    else if (n === 2) response.writeHead(500).end()
    else json(response, vectors([1, 0]))
  })
  t.same([...((await open().embedQuery('x')) ?? [])], [1, 0])
  t.same([asked.length, delays], [3, [2000, 1000]])
})

verifies(
  'help:embed:endpoint',
  'the error of an unavailable endpoint has a code and does not contain the key',
  async (t) => {
    const { asked, open } = await endpoint(t, (response) => response.writeHead(503).end())
    const failure = await open({ apiKey: 'secret' })
      .embedQuery('x')
      .catch((error) => error)
    t.match(failure, { code: 'EMBEDDINGS_UNAVAILABLE' })
    t.notMatch(JSON.stringify({ ...failure, text: failure.message }), /secret/)
    t.equal(asked.length, 3)
    const refused = await endpoint(t, (response) => response.writeHead(401).end())
    await t.rejects(refused.open().embedQuery('x'), { code: 'EMBEDDINGS_UNAVAILABLE' })
    t.equal(refused.asked.length, 1, 'does not retry after status 401')
  },
)

verifies('help:embed:endpoint', 'a request times out, and a call can be cancelled', async (t) => {
  const { open } = await endpoint(t, () => {})
  await t.rejects(open({ timeoutMs: 50, maxAttempts: 1 }).embedQuery('x'), { code: 'EMBEDDINGS_UNAVAILABLE' })
  const controller = new AbortController()
  const asked = open().embedQuery('x', { signal: controller.signal })
  controller.abort()
  await t.rejects(asked, { code: 'CANCELLED' })
})

verifies('help:embed:dimensions', async (t) => {
  const { open } = await endpoint(t, (response) => json(response, vectors([1, 0, 0])))
  await t.rejects(open().embedQuery('x'), {
    code: 'EMBEDDING_SPACE_MISMATCH',
    data: { dimensions: 3, configured_dimensions: 2 },
  })
  const [two, three] = [2, 3].map((dimensions) => open({ dimensions }).space)
  if (two === undefined || three === undefined) return void t.fail('opens two spaces')
  t.throws(() => requireSameSpace(two, three), { code: 'EMBEDDING_SPACE_MISMATCH' })
  t.doesNotThrow(() => requireSameSpace(two, open({ baseUrl: 'http://127.0.0.1:1/proxy' }).space))
  t.doesNotThrow(
    () => requireSameSpace(two, { provider: two.provider }),
    'accepts any value of missing properties',
  )
  t.throws(() => requireSameSpace(two, { provider: 'lsa' }), {
    code: 'EMBEDDING_SPACE_MISMATCH',
    message: /settings require lsa$/,
    data: { stored: { dimensions: 2 }, configured: { provider: 'lsa' } },
  })
})

const broken: Readonly<Record<string, unknown>> = {
  'too few vectors': vectors(),
  'no list': { data: 'none' },
  'a repeated index': {
    data: [
      { index: 0, embedding: [1, 0] },
      { index: 0, embedding: [1, 0] },
    ],
  },
  'an index beyond the list': {
    data: [
      { index: 0, embedding: [1, 0] },
      { index: 7, embedding: [1, 0] },
    ],
  },
  'a vector of zeros': vectors([0, 0], [1, 0]),
  'a component that is not a number': vectors([1, null], [1, 0]),
}
for (const [name, body] of Object.entries(broken)) {
  verifies('help:embed:invalid', `${name} is rejected`, async (t) => {
    const { open } = await endpoint(t, (response) => json(response, body))
    await t.rejects(open().embedDocuments(['a', 'b']), { code: 'EMBEDDINGS_INVALID' })
  })
}

verifies('help:embed:invalid', async (t) => {
  const { open } = await endpoint(t, (response) => response.end('<html>'))
  await t.rejects(open().embedQuery('a'), { code: 'EMBEDDINGS_INVALID' })
})

t.test('openEndpoint decodes base64 from an endpoint that ignores the requested format', async (t) => {
  const bytes = Buffer.alloc(8)
  bytes.writeFloatLE(0, 0)
  bytes.writeFloatLE(-5, 4)
  const { open } = await endpoint(t, (response) => json(response, vectors(bytes.toString('base64'))))
  t.same([...((await open().embedQuery('x')) ?? [])], [0, -1])
})

t.test('openEndpoint embeds the same query only once', async (t) => {
  const { asked, open } = await endpoint(t, (response) => json(response, vectors([1, 0])))
  const embedder = open()
  await embedder.embedQuery('same')
  await embedder.embedQuery(' same ')
  t.equal(asked.length, 1)
})
