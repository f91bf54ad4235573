/** A small app for tests of the server, with every kind of declaration. */
import { type App, type AppTool, defineApp, makeTool, withContent } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { ReplayError } from '../../packages/app-replay/src/errors.ts'

/** State of an open demo app that a test can read and change. */
export interface DemoControl {
  /** Tools that the next discovery returns. */
  discovered: AppTool[]
  /** Runs before each discovery; may throw or wait. */
  onDiscover: () => Promise<void> | void
  discoveries: number
  /** Signals of the calls of `wait`, in order. */
  readonly waiting: AbortSignal[]
  announce: (what: 'tools' | 'resources' | { uri: string }) => void
  opened: number
  closed: number
}

export const foundTool = (name: string): AppTool =>
  makeTool(name, {
    about: 'Found at run time.',
    input: {},
    output: { name: z.string() },
    hints: { readOnly: true },
    example: { args: {} },
    run: () => ({ name }),
  })

export function demoApp({ name = 'Demo', scheme = 'demo' } = {}): { app: App; control: DemoControl } {
  const control: DemoControl = {
    discovered: [],
    onDiscover: () => {},
    discoveries: 0,
    waiting: [],
    announce: () => {},
    opened: 0,
    closed: 0,
  }
  const app = defineApp(
    {
      name,
      about: 'Shows every kind of declaration.',
      errors: [ReplayError],
      open({ changed }) {
        control.opened++
        control.announce = (what) => {
          if (what === 'tools') changed.tools()
          else if (what === 'resources') changed.resources()
          else changed.resource(what.uri)
        }
        return control
      },
      session: () => ({ count: 0 }),
      close: () => void control.closed++,
      async discover() {
        control.discoveries++
        await control.onDiscover()
        return control.discovered
      },
    },
    (registrar) => {
      registrar.tool('echo', {
        about: 'Gives back what it was given.',
        input: {
          text: z.string().describe('any text'),
          times: z.int().min(1).optional().describe('repeats'),
        },
        output: { text: z.string(), client: z.string() },
        hints: { readOnly: true },
        aliases: { bare: ['demo.echo'], full: ['OldDemo__echo'] },
        example: { args: { text: 'hello' } },
        run: ({ text, times = 1 }, { client }) => ({ text: text.repeat(times), client: client.name }),
      })
      registrar.tool('count', {
        about: 'Counts the calls of this client.',
        input: {},
        output: { count: z.int(), shared: z.boolean() },
        example: { args: {} },
        run: (_, { session, sharedSession }) => ({ count: ++session.count, shared: sharedSession }),
      })
      registrar.tool('wait', {
        about: 'Reports progress, then waits until it is cancelled.',
        input: {},
        output: {},
        example: { args: {} },
        run(_, { signal, progress }) {
          progress(1, 2, 'half way')
          control.waiting.push(signal)
          return new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () =>
              reject(new CausewayError('CANCELLED', 'cancelled by the caller')),
            )
          })
        },
      })
      registrar.tool('fail', {
        about: 'Fails with a code, or by accident.',
        input: { code: z.enum(['NO_RECORDING', 'accident']).describe('how to fail') },
        output: { never: z.string() },
        example: { args: { code: 'NO_RECORDING' } },
        run({ code }) {
          if (code === 'NO_RECORDING')
            throw new ReplayError(code, 'no recording loaded', { data: { hint: 1 } })
          throw new Error('secret path /home/ada')
        },
      })
      registrar.tool('picture', {
        about: 'A number and a picture.',
        input: {},
        output: { value: z.number().nullable() },
        hints: { readOnly: true },
        example: { args: {} },
        run: () =>
          withContent({ value: Number.POSITIVE_INFINITY }, [
            { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          ]),
      })
      registrar.resource(`${scheme}://notes/{id}`, {
        name: 'note',
        about: 'One note.',
        list: async () => [{ uri: `${scheme}://notes/a`, name: 'a' }],
        complete: { id: async () => ['alpha', 'beta'] },
        read: async ({ id }) => ({ json: { id } }),
      })
      registrar.prompt('greet', {
        about: 'A greeting.',
        input: { who: z.string().describe('name'), tone: z.string().optional().describe('how') },
        complete: { who: async () => ['Ada', 'Alan', 'Grace'] },
        messages: ({ who }) => [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
      })
      registrar.route('POST', '/notes/{id}', {
        about: 'Stores a note.',
        handle: async (request, { id }) => Response.json({ id, body: await request.text() }),
      })
    },
  )
  return { app, control }
}
