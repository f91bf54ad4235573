import { type App, defineApp } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'

export interface WireControl {
  /** Signals of started calls of `work` and `/drip`, in order. */
  readonly begun: AbortSignal[]
  /** Completes every waiting call of `work`. */
  release(): void
}

/** Creates an app whose calls wait and stream. */
export function wireApp(): { app: App; control: WireControl } {
  const begun: AbortSignal[] = []
  const waiting = new Set<() => void>()
  const control: WireControl = {
    begun,
    release() {
      for (const resume of waiting) resume()
      waiting.clear()
    },
  }
  const app = defineApp(
    { name: 'Wire', about: 'Waits and streams.', open: () => control, session: () => ({}) },
    (registrar) => {
      registrar.tool('work', {
        about: 'Report progress, then wait until the test releases the call.',
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
      registrar.tool('identify', {
        about: 'Return the client and the request id.',
        input: {},
        output: { request: z.string(), client: z.string(), version: z.string() },
        hints: { readOnly: true },
        example: { args: {} },
        run: (_, { requestId, client }) => ({ request: requestId, ...client, client: client.name }),
      })
      registrar.route('PUT', '/lines/{name}', {
        streams: true,
        body: { accepts: ['application/x-ndjson', 'application/json'], untyped: true },
        about: 'Send each chunk of the body back as it arrives.',
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
      registrar.route('POST', '/refuse/{how}', {
        streams: true,
        body: { accepts: ['application/json'], untyped: true },
        about: 'Returns or throws an error after the first chunk of the body.',
        handle: async (request, { how }) => {
          await request.body?.getReader().read()
          if (how === 'throw') throw new CausewayError('PARSE_ERROR', 'the first chunk is malformed')
          return Response.json({ code: 'REFUSED' }, { status: 409 })
        },
      })
      registrar.route('GET', '/break', {
        about: 'Fails while its response is streamed.',
        handle: async () =>
          new Response(
            new ReadableStream({
              start: (out) => out.enqueue(Buffer.from('half')),
              pull: () => Promise.reject(new Error('secret path /home/user')),
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
