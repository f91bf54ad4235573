/** A model and embeddings provider that leaks secrets: its errors repeat the headers of the request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Starts the provider and returns its base URL. Every third request fails with an error message like that of real providers. */
export async function startLeakyProvider(t: Test): Promise<string> {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    respond(request, response, requests % 3 === 0).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function respond(request: IncomingMessage, response: ServerResponse, fails: boolean): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const shown = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  const send = (status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (fails)
    return send(401, {
      error: { message: `Incorrect API key provided: ${shown.join(', ')}`, code: 'invalid_api_key' },
    })
  if (request.url?.endsWith('/embeddings') !== true)
    return send(200, {
      choices: [{ message: { role: 'assistant', content: shown.join('\n') }, finish_reason: 'stop' }],
    })
  const { input, dimensions = 64 } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  const vector = (at: number): number[] =>
    Array.from({ length: dimensions }, (_, place) => Math.cos(at + place))
  const texts = [input].flat()
  send(200, {
    data: texts.map((_: unknown, index: number) => ({ index, embedding: vector(index) })),
    usage: {},
  })
}
