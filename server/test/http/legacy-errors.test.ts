import { type App, defineApp } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { both, openWire, rpc } from './open-wire.ts'

const failing: App = defineApp(
  { name: 'Failing', about: 'Fails.', open: () => ({}), session: () => ({}) },
  (app) => {
    app.tool('fail', {
      about: 'Fails under a code.',
      input: { code: z.enum(['RATE_LIMITED', 'CANCELLED']).describe('the code') },
      output: {},
      example: { args: { code: 'CANCELLED' } },
      run({ code }) {
        throw new CausewayError(code, 'it failed', { data: { retry_after_ms: 5 } })
      },
    })
  },
)

const call = (code: string) => rpc('tools/call', { name: 'fail', arguments: { code } })

verifies('wire:legacy-errors', async (t) => {
  const open = (legacyErrors: boolean, dir: string) =>
    openWire(t, { dir, apps: [failing], aliases: [{ app: 'failing', port: 0 }], legacyErrors })
  const dirs = t.testdir({ on: {}, off: {} })
  const [on, off] = [await open(true, `${dirs}/on`), await open(false, `${dirs}/off`)]
  const ask = async ({ http }: typeof on, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${http.aliases[0]?.port}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return answer.text()
  }
  t.match(JSON.parse(await ask(on, call('RATE_LIMITED'))), {
    id: 1,
    error: {
      code: -32005,
      message: 'it failed',
      data: { code: 'RATE_LIMITED', retry_after_ms: 5, retryable: true },
    },
  })
  t.match(
    JSON.parse(await ask(on, call('CANCELLED'))),
    { result: { isError: true } },
    'no number was planned for it',
  )
  t.match(JSON.parse(await ask(off, call('RATE_LIMITED'))), { result: { isError: true } })
  t.match((await on.send(call('RATE_LIMITED'), { path: '/mcp/failing' })).json, { result: { isError: true } })
  const id = await on.initialize({ path: '/mcp/failing' })
  t.match(
    await ask(on, call('RATE_LIMITED'), { ...both, 'mcp-session-id': id }),
    'isError',
    'a client of MCP',
  )
})
