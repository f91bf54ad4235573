/**
 * An MCP server over stdio for measurements. `echo` returns its message, `steps` reports progress `count` times, and `wait` reports
 * progress once and ends when it is cancelled. The file in `PROBE_LOG` receives the time of each cancellation, in milliseconds since
 * 1970 with fractions. With `PROBE_HANGS`, no call is answered.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const progress = (token, value) =>
  write({ method: 'notifications/progress', params: { progressToken: token, progress: value } })

const tools = {
  echo: ({ id, params }) => write({ id, result: text(params.arguments.message) }),
  steps({ id, params }) {
    for (let step = 1; step <= params.arguments.count; step++) progress(params._meta.progressToken, step)
    write({ id, result: text('done') })
  },
  wait: ({ params }) => progress(params._meta.progressToken, 1),
}

const methods = {
  initialize: ({ id, params }) =>
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'probe', version: '1' },
      },
    }),
  ping: ({ id }) => write({ id, result: {} }),
  'tools/list': ({ id }) =>
    write({
      id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    }),
  'tools/call': (message) => {
    if (process.env.PROBE_HANGS === undefined) tools[message.params.name](message)
  },
  'notifications/cancelled': () =>
    appendFileSync(process.env.PROBE_LOG, `${performance.timeOrigin + performance.now()}\n`),
  'notifications/initialized': () => {},
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const method = methods[message.method]
  if (method !== undefined) method(message)
  else if (message.id !== undefined)
    write({ id: message.id, error: { code: -32601, message: `unknown method: ${message.method}` } })
}
