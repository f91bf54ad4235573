import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Place } from '../domain/policy/place.ts'
import type { Minds } from '../mind/minds.ts'

const maxDecisions = 200

const maxPlaces = 500

export function declareMindRoutes(app: Registrar<Minds, object>): void {
  app.route('GET', '/minds/{mind_id}/decisions', {
    about: 'Returns the last decisions of a mind with their explanations, newest first. ?limit=<1 to 200>.',
    async handle(request, { mind_id = '' }, { store }) {
      const limit = Number(new URL(request.url).searchParams.get('limit') ?? 50)
      if (!Number.isInteger(limit) || limit < 1 || limit > maxDecisions)
        throw new CausewayError('INVALID_ARGUMENTS', `limit is not a number from 1 to ${maxDecisions}`, {
          data: { problems: [{ argument: 'limit', problem: `must be 1 to ${maxDecisions}` }] },
        })
      const decisions = await store.read(mind_id, ({ records }, { seq }) => records.listDecisions(seq, limit))
      return Response.json({ mind_id, decisions })
    },
  })
  app.route('GET', '/minds/{mind_id}/places', {
    about: `Returns the places and characters that a mind knows, last seen first, at most ${maxPlaces}.`,
    async handle(_request, { mind_id = '' }, { store }) {
      const storedPlaces = await store.read(mind_id, ({ world }, { seq }) => world.listPlaces(seq))
      const places = [...storedPlaces].sort((a, b) => b.last_seen - a.last_seen)
      return Response.json({
        mind_id,
        places: places.slice(0, maxPlaces).map(describePlace),
        total: places.length,
      })
    },
  })
}

const describePlace = ({ entity_id, display_name, position, interactions, last_seen, gone }: Place) => ({
  entity_id,
  display_name,
  position,
  interactions: interactions.map(({ name }) => name),
  last_seen,
  gone,
})
