/** Arguments that travel as headers too: both must agree, however the call is answered. */
import { type App, type AppTool, defineApp } from '@causeway/app-kit'
import t from 'tap'
import { modern, openWire, toolCall } from './open-wire.ts'

const tool: AppTool = {
  name: 'route',
  about: 'Has arguments that travel as headers.',
  aliases: { bare: [], full: [], args: {} },
  annotations: {},
  example: { args: {} },
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      options: { type: 'object', properties: { fast: { type: 'boolean', 'x-mcp-header': 'Fast' } } },
      note: { type: 'string' },
    },
  },
  call: async (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
}

const routing = (): App =>
  defineApp(
    {
      name: 'Routing',
      about: 'Routes.',
      open: () => ({}),
      session: () => ({}),
      discover: async () => [tool],
    },
    () => {},
  )

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

t.test('param headers: a header must be there and say what the argument says', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  const post = async (args: object, given: Record<string, string>, progressToken?: string) => {
    const { body, headers } = modern(toolCall('Routing__route', args, progressToken))
    const { status, text } = await send(body, { headers: { ...headers, ...given } })
    return { status, text }
  }
  const accepted: [object, Record<string, string>][] = [
    [{ region: 'north' }, { 'mcp-param-region': 'north' }],
    [{ region: 'Größe' }, { 'Mcp-Param-Region': base64('Größe') }],
    [{ region: '=?base64?eA==' }, { 'mcp-param-region': '=?base64?eA==' }],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'true' }],
    [{ note: 'x' }, { 'mcp-param-region': 'nobody looks' }],
    [{ region: null }, {}],
  ]
  for (const [args, given] of accepted) t.equal((await post(args, given)).status, 200, JSON.stringify(args))

  const refused: [object, Record<string, string>][] = [
    [{ region: 'north' }, {}],
    [{ region: 'north' }, { 'mcp-param-region': 'south' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }],
    [{ region: 'x' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ count: 42 }, { 'mcp-param-count': '43' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'false' }],
  ]
  for (const [args, given] of refused)
    for (const token of [undefined, 'token']) {
      const { status, text } = await post(args, given, token)
      t.match(
        { status, ...JSON.parse(text) },
        { status: 400, id: 1, error: { code: -32020, data: { code: 'HEADER_MISMATCH' } } },
      )
    }
})

t.test('param headers: a session knows none of them', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  t.match((await send(toolCall('Routing__route', { region: 'north' }))).json, { result: { content: [{}] } })
})
