import type { ChannelContext, Registrar, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'
import { createEventStream } from './event-stream.ts'

export function declareEventRoutes(app: Registrar<Debrief, DebriefSession>): void {
  app.route('GET', '/plots/{filename}/events', {
    about:
      'Streams events of an open plot: snapshot, patch, selection, time, viewport, notice, doc, reloaded. ?since=<rev> or Last-Event-ID resumes after an event.',
    handle: streamEvents,
  })
  app.route('GET', '/plots/{filename}/features', {
    about: 'Returns all features of an open plot as GeoJSON.',
    async handle(_request, { filename }, { store }) {
      const plot = await store.find(filename, undefined)
      const { data, status } = await plot.read({ kind: 'collection' })
      return new Response(data, {
        headers: { 'content-type': 'application/geo+json', etag: `"${status.rev}"` },
      })
    },
  })
}

async function streamEvents(
  request: Request,
  { filename }: Variables,
  { store, signal }: ChannelContext<Debrief, DebriefSession>,
): Promise<Response> {
  const plot = await store.find(filename, undefined)
  const since = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('since')
  if (since !== null && !/^\d{1,15}(\.\d{1,9})?$/.test(since))
    throw new CausewayError('INVALID_ARGUMENTS', `since is not a revision: ${since.slice(0, 40)}`, {
      data: { problems: [{ argument: 'since', problem: 'must be a revision, as in 12 or 12.3' }] },
    })
  return new Response(createEventStream(plot, since, signal), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}
