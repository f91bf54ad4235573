import { type App, defineApp, type Socket } from '@causeway/app-kit'
import { z } from 'zod'
import { ReplayError } from '../../../packages/app-replay/src/errors.ts'

export interface PortControl {
  /** Number of frames whose handler has started. */
  startedFrames: number
  /** Completes frames with the text `hold`. */
  release(): void
  readonly sockets: Socket[]
  /** Signals of the opened event streams. */
  readonly streams: AbortSignal[]
}

/** Creates an app with sockets, routes that override those of the server, and its own error format. */
export function portApp(): { app: App; control: PortControl } {
  const held: (() => void)[] = []
  const control: PortControl = {
    startedFrames: 0,
    sockets: [],
    streams: [],
    release: () => {
      for (const resume of held.splice(0)) resume()
    },
  }
  const app = defineApp(
    {
      name: 'Port',
      about: 'Has its own port.',
      errors: [ReplayError],
      service: 'port-server',
      open: () => control,
      session: () => ({ frames: 0 }),
      health: () => ({ tools_loaded: 2 }),
      errorBody: ({ message }) => ({ status: 'error', error_message: message }),
    },
    (registrar) => {
      registrar.tool('strict', {
        about: 'Fail with an error in the output schema.',
        input: { mind: z.string().describe('any name') },
        output: { status: z.string(), error_message: z.string().nullable() },
        example: { args: { mind: 'x' } },
        run({ mind }) {
          throw new ReplayError('NO_RECORDING', `no such mind: ${mind}`)
        },
      })
      registrar.tool('counted', {
        about: 'Count frames, or fail with an error that the output schema does not allow.',
        input: { fail: z.boolean().describe('whether to fail') },
        output: { frames: z.int(), request: z.string() },
        example: { args: { fail: false } },
        run({ fail }, { session, requestId }) {
          if (fail) throw new ReplayError('NO_RECORDING', 'nothing to count')
          return { frames: session.frames, request: requestId }
        },
      })
      registrar.socket('/', {
        about: 'Counts, echoes, fails and floods.',
        async open(socket) {
          control.sockets.push(socket)
          await socket.send('welcome')
        },
        async message(text, socket, { session, call }) {
          control.startedFrames++
          session.frames++
          if (text === 'count') return socket.send(JSON.stringify(await call('counted', { fail: false })))
          if (text === 'fail') throw new ReplayError('NO_RECORDING', 'nothing to send')
          if (text === 'break') throw new Error('a secret')
          if (text === 'bye') return socket.close('bye')
          if (text === 'hold') await new Promise<void>((resolve) => held.push(resolve))
          if (text === 'flood') return socket.send('x'.repeat(2 ** 20))
          await socket.send(`echo ${text}`)
        },
      })
      registrar.socket('/rooms/{room}', {
        about: 'Sends the name of the room.',
        message: (_text, socket) => socket.send(String(socket.variables.room)),
      })
      registrar.route('GET', '/live', {
        about: 'An endless event stream.',
        handle: async (_request, _variables, { signal }) => {
          control.streams.push(signal)
          const body = new ReadableStream({
            start: (out) => out.enqueue(Buffer.from('data: first\n\n')),
          })
          return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
        },
      })
      registrar.route('POST', '/', {
        about: 'Legacy command protocol.',
        handle: async (request, _variables, { call }) =>
          Response.json({ result: await request.json(), own: await call('counted', { fail: false }) }),
      })
      registrar.route('POST', '/api/command', {
        about: 'Legacy command protocol at another path.',
        handle: async (request) => Response.json({ command: await request.json() }),
      })
      registrar.route('GET', '/tools/list', {
        about: 'Legacy list of tools.',
        handle: async () => Response.json({ tools: ['own'] }),
      })
      registrar.route('POST', '/tools/call', {
        about: 'Legacy tool call.',
        handle: async (request) => Response.json({ called: await request.json() }),
      })
    },
  )
  return { app, control }
}
