import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { CapturedJson } from '../activity/call-capture.ts'
import type { CausewayStore } from './store.ts'

/** Declares the capture of arguments and answers, which the console starts for one session. `/health` has its state. */
export function captureRoutes(app: Registrar<CausewayStore, object>): void {
  app.route('POST', '/sessions/{session}/capture', {
    about:
      'Keeps arguments and answers of the calls of a session in memory, for ten minutes and at most the last 100 calls. Ends the capture of another session.',
    handle: async (_request, { session = '' }, { store }) => {
      const { activity, capture } = store.core()
      if (!activity.sessions.some((one) => one.session === session))
        throw new CausewayError('SESSION_NOT_FOUND', 'no session with this name called a tool', {
          retryable: false,
          data: { session },
        })
      capture.start(session)
      return Response.json({ capture: capture.state })
    },
  })

  app.route('DELETE', '/capture', {
    about: 'Ends the capture and deletes what it kept.',
    handle: async (_request, _variables, { store }) => {
      store.core().capture.stop()
      return new Response(null, { status: 204 })
    },
  })

  app.route('GET', '/capture/calls/{request}', {
    about:
      'Returns the arguments and the answer of a captured call, or only the length of what is longer than 100,000 characters; `null` if the call was not captured.',
    scope: 'write',
    handle: async (_request, { request = '' }, { store }) => {
      const call = store.core().capture.find(request)
      if (call === undefined) return Response.json({ call: null })
      return Response.json({
        call: { arguments: parse(call.arguments), answer: parse(call.answer) },
      })
    },
  })
}

const parse = ({ chars, json }: CapturedJson) =>
  json === undefined ? { chars } : { chars, value: JSON.parse(json) as unknown }
