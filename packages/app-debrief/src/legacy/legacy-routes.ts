import type { Registrar } from '@causeway/app-kit'
import { isObject, parseJson } from '@causeway/protocol'
import type { DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'
import { formatResponse, type LegacyContext, runLegacyCommand } from './legacy-command.ts'

/** Declares the WebSocket `/`, `POST /` and `POST /api/command` of the original plot server. */
export function declareLegacyRoutes(app: Registrar<Debrief, DebriefSession>): void {
  app.socket('/', {
    about: 'Accepts commands {command, params} and responds with {result} or {error}, in order.',
    // Clients of the original plot server ignore the first frame.
    open: (socket) => socket.send(JSON.stringify({ result: 'Connected to Debrief WebSocket Bridge' })),
    async message(text, socket, ctx) {
      const request = parseJson(text)
      const echo = { result: JSON.stringify(`Echo: ${text}`) }
      const response = request === undefined ? echo : await runLegacyCommand(request, ctx)
      await socket.send(formatResponse(response))
    },
  })
  for (const path of ['/', '/api/command'])
    app.route('POST', path, {
      about: 'Runs a command of the original plot server: {command, params}.',
      handle,
    })
}

async function handle(request: Request, _variables: unknown, ctx: LegacyContext): Promise<Response> {
  const body = parseJson(await request.text())
  const response = await runLegacyCommand(isObject(body) ? body : {}, ctx)
  const headers = { 'content-type': 'application/json' }
  return new Response(formatResponse(response), {
    status: 'status' in response ? response.status : 200,
    headers,
  })
}
