import { defineApp } from '@causeway/app-kit'
import t from 'tap'
import { z } from 'zod'
import { startBridge } from '../../../bridge/test/client.ts'
import { verifies } from '../../../test/verifies.ts'
import { traceOf } from '../../src/domain/trace.ts'
import { openWire, rpc } from './open-wire.ts'

const relay = defineApp(
  { name: 'Relay', about: 'Calls another app.', open: (env) => env, session: () => ({}) },
  (app) => {
    app.tool('relay', {
      about: 'Calls echo.',
      input: {},
      output: { text: z.string() },
      example: { args: {} },
      run: async (_, ctx) => (await ctx.store.call('Demo', 'echo', { text: 'x' }, ctx)) as { text: string },
    })
  },
)

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

verifies('log:trace', async (t, channel) => {
  const { core, http, logged, send } = await openWire(t)
  const params = { name: 'Demo__echo', arguments: { text: 'x' } }
  if (channel === 'bridge') {
    const bridge = startBridge(t, { url: `${http.url}/mcp` })
    await bridge.open()
    await bridge.call(7, 'tools/call', { ...params, _meta: { traceparent } })
    await bridge.call(8, 'tools/call', params)
  } else {
    await send(rpc('tools/call', params), { headers: { traceparent } })
    await send(rpc('tools/call', { ...params, _meta: { traceparent } }))
  }
  const lines = logged.lines.filter(({ what }) => what === 'echo')
  t.match(lines[0], { trace_id: traceId, parent_id: 'b7ad6b7169203331', request_id: String })
  const entries = await core.audit({ trace_id: traceId, limit: 9 })
  t.equal(entries.length, channel === 'bridge' ? 1 : 2)
  if (channel === 'bridge') t.match(lines[1], { trace_id: /^[\da-f]{32}$/ }, 'a trace of its own')
})

t.test('trace: a call of one app by another belongs to it too', async (t) => {
  const { core, send } = await openWire(t, { apps: [relay] })
  await send(rpc('tools/call', { name: 'Relay__relay', arguments: {} }), { headers: { traceparent } })
  const entries = await core.audit({ trace_id: traceId, limit: 9 })
  t.same(entries.map(({ tool }) => tool).sort(), ['echo', 'relay'])
})

t.test('trace: what is not a traceparent names none', async (t) => {
  t.same(traceOf(traceparent), { traceId, parentId: 'b7ad6b7169203331' })
  t.same(
    traceOf(`01-${traceId}-b7ad6b7169203331-01-later`),
    { traceId, parentId: 'b7ad6b7169203331' },
    'a later version',
  )
  for (const odd of [
    undefined,
    '',
    traceparent.toUpperCase(),
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-b7ad6b7169203331-01`,
    `00-${traceId}-b7ad6b7169203331`,
  ])
    t.equal(traceOf(odd), undefined, String(odd))
})
