import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Critic } from './session/critic.ts'
import { diffStep } from './session/step-diff.ts'
import type { ClientState } from './tools/tool-context.ts'

export function declareRoutes(app: Registrar<Critic, ClientState>): void {
  app.route('GET', '/sessions/{sid}/evaluations/{position}/diff', {
    about:
      'Returns the changes of the files in an evaluation as unified diffs. The first evaluation of a session has position 0.',
    async handle(_request, { sid, position = '' }, { store }) {
      if (!/^\d{1,6}$/.test(position))
        throw new CausewayError('INVALID_ARGUMENTS', 'position is not a number', {
          data: { problems: [{ argument: 'position', problem: 'must be 0 or more' }] },
        })
      return Response.json({ files: await diffStep(store, sid, Number(position)) })
    },
  })
}
