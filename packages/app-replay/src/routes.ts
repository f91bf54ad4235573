import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { ReplayStore } from './store/store.ts'
import type { ReplayRegistrar } from './tools/recording-tool.ts'

/** Media type of SQLite databases (https://www.iana.org/assignments/media-types/application/vnd.sqlite3). */
const databaseType = 'application/vnd.sqlite3'

/** Returns the length in bytes; 0 if unknown. */
const getLength = ({ headers }: Request): number => Number(headers.get('content-length'))

const getName = ({ name = '' }: Variables): string => name

export function registerRecorderRoutes(app: ReplayRegistrar): void {
  app.route('POST', '/recordings/{name}/frames', {
    about:
      'Stores frames of a run, as JSON lines or MCAP. Returns the number of new frames and the last stored frame. With the header "If-None-Match: *", the run must not exist.',
    streams: true,
    body: {
      accepts: [
        ...['application/x-ndjson', 'application/jsonl', 'application/json', 'application/octet-stream'],
        'application/x-mcap',
      ],
      encodings: ['gzip'],
      untyped: true,
    },
    handle: async (request, variables, { store }) =>
      Response.json(
        await store.recorder.write(getName(variables), decodeBody(request), {
          isNew: request.headers.get('if-none-match') === '*',
          expectedBytes: getLength(request),
        }),
      ),
  })

  app.route('PUT', '/recordings/{name}', {
    about:
      'Creates a finished run from JSON lines, MCAP or a database of the MSD-CPP recorder, or stores nothing. The run must not exist.',
    streams: true,
    body: {
      accepts: ['application/x-ndjson', 'application/jsonl', 'application/x-mcap', databaseType],
      encodings: ['gzip'],
    },
    async handle(request, variables, { store: { recorder } }) {
      const isDatabase = request.headers.get('content-type')?.startsWith(databaseType) === true
      const body = decodeBody(request)
      const name = getName(variables)
      return Response.json(
        await (isDatabase
          ? recorder.importUpload(name, body)
          : recorder.importStream(name, body, { expectedBytes: getLength(request) })),
      )
    },
  })

  app.route('POST', '/recordings/{name}/finish', {
    about: 'Finishes a recorded run.',
    handle: async (_request, variables, { store }) =>
      Response.json(await store.recorder.finish(getName(variables))),
  })

  app.route('GET', '/recordings/{name}', {
    about: 'Returns the state of a recorded run: status, frames, and last_frame_id to continue after.',
    handle: async (_request, variables, { store }) =>
      Response.json(await store.recorder.state(getName(variables))),
  })

  app.route('DELETE', '/recordings/{name}', {
    about: 'Removes a recorded run.',
    async handle(_request, variables, { store }) {
      await store.recorder.remove(getName(variables))
      return new Response(null, { status: 204 })
    },
  })

  app.route('GET', '/recordings/{name}/export', {
    about: 'Returns a recorded run as a database of the MSD-CPP recorder.',
    handle: (_request, variables, { store }) => exportRun(getName(variables), store),
  })

  app.route('POST', '/recordings/{name}/import', {
    about:
      'Creates a run from a recording below the roots: a database of the MSD-CPP recorder, an .mcap or .jsonl file, or an imported file.',
    handle: async (request, variables, { store, signal }) =>
      Response.json(await store.importRecording(getName(variables), await readSource(request), { signal })),
  })
}

function decodeBody({ headers, body }: Request): AsyncIterable<Uint8Array> {
  const isGzip = headers.get('content-encoding')?.trim().toLowerCase() === 'gzip'
  return readParts(isGzip ? (body?.pipeThrough(new DecompressionStream('gzip')) ?? null) : body)
}

/** Never cancels the body, because that would close the connection. */
async function* readParts(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

async function exportRun(name: string, { recorder }: ReplayStore): Promise<Response> {
  const { file, remove } = await recorder.export(name)
  const { size } = await stat(file)
  const stream = createReadStream(file)
  stream.once('close', () => void remove())
  return new Response(Readable.toWeb(stream) as ReadableStream, {
    headers: {
      'content-type': databaseType,
      'content-length': String(size),
      'content-disposition': `attachment; filename="${name}.db"`,
    },
  })
}

async function readSource(request: Request): Promise<string> {
  const body: unknown = await request.json().catch(() => undefined)
  const from = (body as { readonly from?: unknown } | null | undefined)?.from
  if (typeof from === 'string' && from !== '') return from
  throw new CausewayError('INVALID_ARGUMENTS', 'the body does not name a recording', {
    remedy: 'send {"from": "<id or path of list_recordings, or path of an .mcap or .jsonl file>"}',
    data: { problems: [{ path: 'from', message: 'an id or a path' }] },
  })
}
