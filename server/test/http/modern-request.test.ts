/** Reading requests of 2026-07-28: with or without the SDK, the verdict is the same. */
import { meta, modernVersion } from '@causeway/protocol'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { modernRequests } from '../../src/http/modern-request.ts'
import { modern, rpc, toolCall } from './open-wire.ts'

const asRequest = ({ body, headers }: { body: unknown; headers: object }) =>
  ({ method: 'POST', body, headers }) as unknown as FastifyRequest

/** A reader, and how often it asked the SDK. */
function counted() {
  const asked = { count: 0 }
  const read = modernRequests((request) => {
    asked.count += 1
    return classifyInboundRequest(request)
  })
  return { read, asked }
}

t.test('the SDK is asked once about an envelope, whatever is called', async (t) => {
  const { read, asked } = counted()
  for (let id = 0; id < 5; id++) {
    const message = { ...toolCall('Demo__echo', { text: `${id}` }), id }
    const call = modern(message)
    t.equal(read(asRequest(call)), call.body)
  }
  const list = modern(rpc('tools/list'))
  t.equal(read(asRequest(list)), list.body)
  t.equal(asked.count, 1)
})

t.test(
  'an envelope that is refused is refused each time, and one that grows without end is not kept',
  async (t) => {
    const { read, asked } = counted()
    const bad = modern(toolCall('Demo__echo'))
    ;(bad.body.params._meta as Record<string, unknown>)[meta.clientCapabilities] = 'all'
    const long = modern(toolCall('Demo__echo'))
    ;(long.body.params._meta as Record<string, unknown>)['example.com/note'] = 'x'.repeat(3000)
    for (const [message, expected] of [
      [bad, undefined],
      [bad, undefined],
      [long, long.body],
      [long, long.body],
    ] as const)
      t.equal(read(asRequest(message)), expected)
    t.equal(asked.count, 4)
  },
)

t.test('an envelope that is nested too deeply to be kept is judged by the SDK', async (t) => {
  const { read, asked } = counted()
  const deep = modern(toolCall('Demo__echo'))
  const levels = 50_000
  ;(deep.body.params._meta as Record<string, unknown>)['example.com/deep'] = JSON.parse(
    '['.repeat(levels) + ']'.repeat(levels),
  )
  t.ok(Object.is(read(asRequest(deep)), deep.body))
  t.equal(asked.count, 1)
})

t.test('many envelopes: each is judged rightly, and the first ones are let go', async (t) => {
  const { read, asked } = counted()
  const numbered = (n: number) => {
    const message = modern(toolCall('Demo__echo'))
    ;(message.body.params._meta as Record<string, unknown>)['example.com/n'] = n
    return message
  }
  for (let n = 0; n < 300; n++) t.ok(read(asRequest(numbered(n))))
  t.equal(asked.count, 300)
  t.ok(read(asRequest(numbered(0))))
  t.equal(asked.count, 301)
})

t.test(
  'after an accepted message of the same envelope, every other message gets the verdict of the SDK',
  async (t) => {
    const { body: good, headers } = modern(toolCall('Demo__echo', { text: 'hi' }))
    const read = modernRequests()
    t.ok(read(asRequest({ body: good, headers })))
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('2.0', 'tools/call', 'tools/list', 'initialize', 1, 1.5, 2 ** 60, null, [], {}),
    )
    const name = fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'extra')
    const param = fc.constantFrom('name', 'arguments', '_meta', 'task', 'cursor', 'requestState')
    const change = fc.record({
      member: fc.option(fc.tuple(name, odd)),
      without: fc.option(name),
      param: fc.option(fc.tuple(param, odd)),
      header: fc.constantFrom('tools/call', 'tools/list', 'initialize'),
    })
    const property = fc.property(change, ({ member, without, param, header }) => {
      const body: Record<string, unknown> = structuredClone(good)
      if (param !== null) body.params = { ...(body.params as object), [param[0]]: param[1] }
      if (member !== null) body[member[0]] = member[1]
      if (without !== null) delete body[without]
      const given = { ...headers, 'mcp-method': header }
      const verdict = classifyInboundRequest({
        httpMethod: 'POST',
        protocolVersionHeader: modernVersion,
        mcpMethodHeader: header,
        body,
      })
      const accepted = verdict.kind === 'modern' && verdict.messageKind === 'request'
      const isNamed = (body.params as { name?: unknown } | undefined)?.name === headers['mcp-name']
      return read(asRequest({ body, headers: given })) === (accepted && isNamed ? body : undefined)
    })
    t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }))
  },
)
