/** An app for tests of its own port: a socket, routes at places of the server's, and errors in its own words. */
import { type App, defineApp, type Socket } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'

/** Handles of a test on the open app. */
export interface PortControl {
  /** Frames whose answering has begun. */
  begun: number
  /** Held frames wait for this. */
  release(): void
  readonly sockets: Socket[]
  /** Signals of the event streams that were opened. */
  readonly streams: AbortSignal[]
}

/** Makes the app and the handles on it. */
export function portApp(): { app: App; control: PortControl } {
  const held: (() => void)[] = []
  const control: PortControl = {
    begun: 0,
    sockets: [],
    streams: [],
    release: () => {
      for (const go of held.splice(0)) go()
    },
  }
  const app = defineApp(
    {
      name: 'Port',
      about: 'Has a port of its own.',
      service: 'port-server',
      open: () => control,
      session: () => ({ frames: 0 }),
      health: () => ({ tools_loaded: 2 }),
      errorBody: ({ message }) => ({ status: 'error', error_message: message }),
    },
    (registrar) => {
      registrar.tool('strict', {
        about: 'Fails; its answers have a place for errors.',
        input: { mind: z.string().describe('any name') },
        output: { status: z.string(), error_message: z.string().nullable() },
        example: { args: { mind: 'x' } },
        run({ mind }) {
          throw new CausewayError('NO_RECORDING', `no such mind: ${mind}`)
        },
      })
      registrar.tool('counted', {
        about: 'Counts frames, or fails for want of an answer that fits.',
        input: { fail: z.boolean().describe('whether to fail') },
        output: { frames: z.int(), request: z.string() },
        example: { args: { fail: false } },
        run({ fail }, { session, requestId }) {
          if (fail) throw new CausewayError('NO_RECORDING', 'nothing to count')
          return { frames: session.frames, request: requestId }
        },
      })
      registrar.socket('/', {
        about: 'Counts, echoes, fails, floods.',
        async open(socket) {
          control.sockets.push(socket)
          await socket.send('welcome')
        },
        async message(text, socket, { session, call }) {
          control.begun++
          session.frames++
          if (text === 'count') return socket.send(JSON.stringify(await call('counted', { fail: false })))
          if (text === 'fail') throw new CausewayError('NO_RECORDING', 'nothing to say')
          if (text === 'break') throw new Error('a secret')
          if (text === 'bye') return socket.close('bye')
          if (text === 'hold') await new Promise<void>((resolve) => held.push(resolve))
          if (text === 'flood') return socket.send('x'.repeat(2 ** 20))
          await socket.send(`echo ${text}`)
        },
      })
      registrar.socket('/rooms/{room}', {
        about: 'Says which room.',
        message: (_text, socket) => socket.send(String(socket.variables.room)),
      })
      registrar.route('GET', '/live', {
        about: 'Events without end.',
        handle: async (_request, _variables, { signal }) => {
          control.streams.push(signal)
          const body = new ReadableStream({
            start: (out) => out.enqueue(Buffer.from('data: first\n\n')),
          })
          return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
        },
      })
      registrar.route('POST', '/', {
        about: 'The old command protocol.',
        handle: async (request, _variables, { call }) =>
          Response.json({ result: await request.json(), own: await call('counted', { fail: false }) }),
      })
      registrar.route('POST', '/api/command', {
        about: 'The same at another place.',
        handle: async (request) => Response.json({ command: await request.json() }),
      })
      registrar.route('GET', '/tools/list', {
        about: 'The tools, in the old form.',
        handle: async () => Response.json({ tools: ['own'] }),
      })
      registrar.route('POST', '/tools/call', {
        about: 'A call, in the old form.',
        handle: async (request) => Response.json({ called: await request.json() }),
      })
    },
  )
  return { app, control }
}
