import type { Backend } from '../backend.ts'
import { initializeParams } from '../client.ts'
import type { Case } from '../transcript.ts'
import { notification, request } from '../transcript.ts'

const tools = (backend: Backend): void =>
  backend.on('tools/list', (got) =>
    got.result({
      tools: ['a_one', 'a_two', 'b_one'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
  )

/** Changes that the optional stages make. */
export const stages: readonly Case[] = [
  {
    name: '--only and --ignore filter the list and reject calls',
    args: ['--only', 'a_*', '--ignore', '*_two'],
    server: tools,
    async run(client) {
      await client.open()
      await client.call(1, 'tools/list')
      await client.call(2, 'tools/call', { name: 'a_one' })
      await client.call(3, 'tools/call', { name: 'a_two' })
      await client.call(4, 'tools/call', { name: 'b_one' })
    },
    isTransparent: false,
  },
  {
    name: 'unknown flags and values',
    args: ['--wait', 'soon'],
    run: (client) => client.exited,
    isTransparent: false,
  },
  {
    name: 'a mistyped flag',
    args: ['--waits', '1'],
    run: (client) => client.exited,
    isTransparent: false,
  },
  {
    name: '--only with pipelined requests',
    args: ['--only', 'a_*'],
    server: tools,
    async run(client) {
      client.send(
        request(1, 'initialize', initializeParams),
        notification('notifications/initialized'),
        request(2, 'tools/list'),
      )
      await client.answer(2)
    },
    isTransparent: false,
  },
]
