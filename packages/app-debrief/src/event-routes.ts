/** Live events of a plot over server-sent events, for any viewer. */
import type { ChannelContext, Registrar, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Listener, Live, LiveEvent } from './live.ts'
import type { Plot } from './plot.ts'
import type { DebriefSession } from './session.ts'
import type { Debrief } from './store.ts'

type Context = ChannelContext<Debrief, DebriefSession>

/** A comment is sent after this silence, so that nothing between us takes the stream for dead, ms. */
const heartbeatMs = 15_000
/** A viewer that is further behind gets a snapshot instead, characters. */
const mostWaiting = 8 * 2 ** 20
/** A snapshot above this names the route of the features instead of holding them, characters. */
const mostSnapshot = 4 * 2 ** 20

/** Declares the events and the features of a plot, below `/api/apps/debrief`. */
export function eventRoutes(app: Registrar<Debrief, DebriefSession>): void {
  app.route('GET', '/plots/{filename}/events', {
    about:
      'Live events of an open plot: snapshot, patch, selection, time, viewport, notice, doc, reloaded. ?since=<rev> or Last-Event-ID goes on after it.',
    handle: events,
  })
  app.route('GET', '/plots/{filename}/features', {
    about: 'Every feature of an open plot, as GeoJSON.',
    async handle(_request, { filename }, { store }) {
      const plot = await store.find(filename, undefined)
      const { data, stamp } = await plot.read({ kind: 'collection' })
      return new Response(data, {
        headers: { 'content-type': 'application/geo+json', etag: `"${stamp.rev}"` },
      })
    },
  })
}

async function events(
  request: Request,
  { filename }: Variables,
  { store, signal }: Context,
): Promise<Response> {
  const plot = await store.find(filename, undefined)
  const since = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('since')
  if (since !== null && !/^\d{1,15}(\.\d{1,9})?$/.test(since))
    throw new CausewayError('INVALID_ARGUMENTS', `since is no revision: ${since.slice(0, 40)}`, {
      data: { problems: [{ argument: 'since', problem: 'must be a revision, as in 12 or 12.3' }] },
    })
  return new Response(eventStream(plot, since, signal), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}

/** The stream of one viewer: what it missed, then what happens, at the pace at which it reads. */
export function eventStream(
  plot: Plot,
  since: string | null,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let end = (): void => {}
  let drained = (): void => {}
  return new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        const { live } = plot
        let isBehind = false
        let isOver = false
        const write = (text: string): void => {
          if (!isOver) controller.enqueue(encoder.encode(text))
        }
        const heartbeat = setInterval(() => write(': still here\n\n'), heartbeatMs).unref()
        const listener: Listener = {
          send(event) {
            if (isBehind) return
            if (-(controller.desiredSize ?? 0) + event.data.length <= mostWaiting) return write(frame(event))
            isBehind = true
            void catchUp().catch((error: unknown) => controller.error(error))
          },
        }
        /** Waits until the viewer has read what is there, and begins it anew. */
        const catchUp = async (): Promise<void> => {
          await new Promise<void>((resolve) => {
            drained = resolve
          })
          await beginAnew(plot, live, write, () => {
            isBehind = false
          })
        }
        end = () => {
          isOver = true
          clearInterval(heartbeat)
          live.leave(listener)
        }
        signal.addEventListener(
          'abort',
          () => {
            if (isOver) return
            end()
            controller.close()
          },
          { once: true },
        )
        write('retry: 1000\n\n')
        const missed = live.listen(listener, since)
        if (missed !== null) for (const event of missed) write(frame(event))
        else {
          isBehind = true
          await beginAnew(plot, live, write, () => {
            isBehind = false
          })
        }
      },
      /** Called when the viewer waits for more. */
      pull() {
        drained()
      },
      cancel() {
        end()
      },
    },
    { highWaterMark: 0, size: (part) => part?.byteLength ?? 0 },
  )
}

/** A snapshot, taken in one turn with the place where the events go on. */
async function beginAnew(
  plot: Plot,
  live: Live,
  write: (text: string) => void,
  done: () => void,
): Promise<void> {
  const route = `"features_route":"/plots/${encodeURIComponent(plot.filename)}/features"`
  await plot.begin({ kind: 'snapshot', mostCharacters: mostSnapshot }, (members, rev) => {
    const { dirty, file = 'ok' } = plot.stamp()
    const data = `{"rev":${rev},"dirty":${dirty},"file":"${file}",${members},${route}}`
    write(frame({ id: live.lastId, event: 'snapshot', data }))
    done()
  })
}

const frame = ({ id, event, data }: LiveEvent): string => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
