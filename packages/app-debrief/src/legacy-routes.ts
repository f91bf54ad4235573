/** The original's two ways to send commands: its WebSocket, and POST. */

import type { Registrar } from '@causeway/app-kit'
import { isObject, parseJson } from '@causeway/protocol'
import { answerText, type LegacyContext, legacyCommand, statusOf } from './legacy-command.ts'
import type { DebriefSession } from './session.ts'
import type { Debrief } from './store.ts'

/** Declares `/`, as WebSocket and for POST, and `POST /api/command`. */
export function legacyRoutes(app: Registrar<Debrief, DebriefSession>): void {
  app.socket('/', {
    about: 'Commands {command, params}, each answered with {result} or {error}, in order.',
    // Clients of the original throw the first frame away.
    open: (socket) => socket.send(JSON.stringify({ result: 'Connected to Debrief WebSocket Bridge' })),
    async message(text, socket, ctx) {
      const request = parseJson(text)
      const echo = { result: JSON.stringify(`Echo: ${text}`) }
      const answer = request === undefined ? echo : await legacyCommand(request, ctx)
      await socket.send(answerText(answer))
    },
  })
  for (const path of ['/', '/api/command'])
    app.route('POST', path, { about: 'A command of the original state server: {command, params}.', handle })
}

async function handle(request: Request, _variables: unknown, ctx: LegacyContext): Promise<Response> {
  const body = parseJson(await request.text())
  const answer = await legacyCommand(isObject(body) ? body : {}, ctx)
  const headers = { 'content-type': 'application/json' }
  return new Response(answerText(answer), { status: statusOf(answer), headers })
}
