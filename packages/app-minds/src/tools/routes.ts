import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Minds } from '../mind/minds.ts'

const maxDecisions = 200

/** Declares the routes for viewers. */
export function mindRoutes(app: Registrar<Minds, object>): void {
  app.route('GET', '/minds/{mind_id}/decisions', {
    about: 'Returns the last decisions of a mind with their explanations, newest first. ?limit=<1 to 200>.',
    async handle(request, { mind_id = '' }, { store }) {
      const limit = Number(new URL(request.url).searchParams.get('limit') ?? 50)
      if (!Number.isInteger(limit) || limit < 1 || limit > maxDecisions)
        throw new CausewayError('INVALID_ARGUMENTS', `limit is not a number from 1 to ${maxDecisions}`, {
          data: { problems: [{ argument: 'limit', problem: `must be 1 to ${maxDecisions}` }] },
        })
      return Response.json({ mind_id, decisions: await store.decisions(mind_id, limit) })
    },
  })
}
