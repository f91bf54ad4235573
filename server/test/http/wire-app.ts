/** An app for tests of the wire: what takes time and what streams, under the control of the test. */
import { type App, defineApp } from '@causeway/app-kit'
import { z } from 'zod'

/** Handles of a test on the open app. */
export interface WireControl {
  /** Signals of the calls of `work` and of `/drip` that have begun, in order. */
  readonly begun: AbortSignal[]
  /** Lets every call of `work` that waits come to its end. */
  release(): void
}

/** Makes the app and the handles on it. */
export function wireApp(): { app: App; control: WireControl } {
  const begun: AbortSignal[] = []
  const waiting = new Set<() => void>()
  const control: WireControl = {
    begun,
    release() {
      for (const go of waiting) go()
      waiting.clear()
    },
  }
  const app = defineApp(
    { name: 'Wire', about: 'Takes its time and streams.', open: () => control, session: () => ({}) },
    (registrar) => {
      registrar.tool('work', {
        about: 'Reports its steps, then waits to be released.',
        input: { steps: z.int().min(0).describe('number of steps') },
        output: { steps: z.int(), request: z.string(), client: z.string() },
        example: { args: { steps: 1 } },
        task: 'optional',
        async run({ steps }, { signal, progress, requestId, client }) {
          for (let step = 1; step <= steps; step++) progress(step, steps, `step ${step}`)
          begun.push(signal)
          await new Promise<void>((resolve, reject) => {
            waiting.add(resolve)
            signal.addEventListener('abort', () => reject(signal.reason))
          })
          return { steps, request: requestId, client: client.name }
        },
      })
      registrar.tool('tell', {
        about: 'Tells who calls, and how the call is named.',
        input: {},
        output: { request: z.string(), client: z.string(), version: z.string() },
        hints: { readOnly: true },
        example: { args: {} },
        run: (_, { requestId, client }) => ({ request: requestId, ...client, client: client.name }),
      })
      registrar.route('PUT', '/lines/{name}', {
        streams: true,
        body: { accepts: ['application/x-ndjson', 'application/json'], untyped: true },
        about: 'Answers each chunk of the body as it comes.',
        handle: async (request, { name }) =>
          new Response(
            request.body?.pipeThrough(
              new TransformStream({
                transform: (chunk, out) => out.enqueue(Buffer.from(`${name}:${Buffer.from(chunk)}`)),
              }),
            ),
            { headers: { 'content-type': 'application/x-ndjson' } },
          ),
      })
      registrar.route('GET', '/break', {
        about: 'Breaks in the middle of its answer.',
        handle: async () =>
          new Response(
            new ReadableStream({
              start: (out) => out.enqueue(Buffer.from('half')),
              pull: () => Promise.reject(new Error('secret path /home/somebody')),
            }),
          ),
      })
      registrar.route('GET', '/drip', {
        about: 'Never ends.',
        handle: async (_request, _variables, { signal }) => {
          begun.push(signal)
          return new Response(
            new ReadableStream({
              start: (out) => out.enqueue(Buffer.from('drop\n')),
            }),
          )
        },
      })
    },
  )
  return { app, control }
}
