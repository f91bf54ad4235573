/** Recording a run over plain HTTP: an engine in any language sends lines, and Replay answers from them at once. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Registrar, ToolContext, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { ReplaySession } from './session.ts'
import type { Replay } from './store.ts'

type Context = ToolContext<Replay, ReplaySession>

const nameOf = ({ name = '' }: Variables): string => name

/** Declares the routes of the recorder, below `/api/apps/replay`. */
export function recorderRoutes(app: Registrar<Replay, ReplaySession>): void {
  app.route('POST', '/recordings/{name}/frames', {
    about:
      'Stores frames of a run, one JSON object a line; answers how many were new, and the last one stored.',
    streams: true,
    body: {
      accepts: ['application/x-ndjson', 'application/jsonl', 'application/json', 'application/octet-stream'],
      encodings: ['gzip'],
      untyped: true,
    },
    handle: async (request, variables, { store }) =>
      Response.json(await store.recorder.write(nameOf(variables), decodeBody(request))),
  })

  app.route('POST', '/recordings/{name}/finish', {
    about: 'Ends a run that was recorded here.',
    handle: async (_request, variables, { store }) =>
      Response.json(await store.recorder.finish(nameOf(variables))),
  })

  app.route('GET', '/recordings/{name}', {
    about: 'How a run that was recorded here stands: status, frames, last_frame_id to go on after.',
    handle: async (_request, variables, { store }) =>
      Response.json(await store.recorder.state(nameOf(variables))),
  })

  app.route('DELETE', '/recordings/{name}', {
    about: 'Removes a run that was recorded here.',
    async handle(_request, variables, { store }) {
      await store.recorder.remove(nameOf(variables))
      return new Response(null, { status: 204 })
    },
  })

  app.route('GET', '/recordings/{name}/export', {
    about: 'A run that was recorded here, as a database of the MSD-CPP recorder.',
    handle: (_request, variables, ctx) => exported(nameOf(variables), ctx),
  })

  app.route('POST', '/recordings/{name}/import', {
    about:
      'Makes a run of a recording below the roots: a database of the MSD-CPP recorder, or a .jsonl file.',
    handle: async (request, variables, { store, signal }) =>
      Response.json(await store.importRecording(nameOf(variables), await sourceOf(request), { signal })),
  })
}

/** Returns the decoded bytes of a body. */
function decodeBody({ headers, body }: Request): AsyncIterable<Uint8Array> {
  const isGzip = headers.get('content-encoding')?.trim().toLowerCase() === 'gzip'
  return partsOf(isGzip ? (body?.pipeThrough(new DecompressionStream('gzip')) ?? null) : body)
}

/** Never cancels the body: that would cut the connection on which the client is to read our answer. */
async function* partsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

async function exported(name: string, { store }: Context): Promise<Response> {
  const { file, remove } = await store.recorder.export(name)
  const { size } = await stat(file)
  const stream = createReadStream(file)
  stream.once('close', () => void remove())
  return new Response(Readable.toWeb(stream) as ReadableStream, {
    headers: {
      'content-type': 'application/vnd.sqlite3',
      'content-length': String(size),
      'content-disposition': `attachment; filename="${name}.db"`,
    },
  })
}

/** The member `from` of the body. */
async function sourceOf(request: Request): Promise<string> {
  const body: unknown = await request.json().catch(() => undefined)
  const from = (body as { readonly from?: unknown } | null | undefined)?.from
  if (typeof from === 'string' && from !== '') return from
  throw new CausewayError('INVALID_ARGUMENTS', 'the body names no recording', {
    remedy: 'send {"from": "<id or path of list_recordings, or path of a .jsonl file>"}',
    data: { problems: [{ path: 'from', message: 'an id or a path' }] },
  })
}
