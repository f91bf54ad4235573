import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { readViewport } from '../domain/document/plot-state.ts'
import type { DebriefContext, DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'

export function declareCoast(app: Registrar<Debrief, DebriefSession>): void {
  app.route('GET', '/coast', {
    about: 'Returns the land within ?bounds=<west>,<south>,<east>,<north> as GeoJSON (Natural Earth).',
    async handle(request, _parts, ctx) {
      const land = await readLand(new URL(request.url).searchParams.get('bounds') ?? '', ctx)
      return new Response(land, {
        headers: { 'content-type': 'application/geo+json', 'cache-control': 'private, max-age=86400' },
      })
    },
  })
  app.resource('plots://coast/{bounds}', {
    name: 'land',
    about: 'The land within west,south,east,north, percent-encoded, as GeoJSON (Natural Earth).',
    mimeType: 'application/geo+json',
    read: async ({ bounds = '' }, ctx) => ({ text: await readLand(bounds, ctx) }),
  })
}

/** Throws `INVALID_ARGUMENTS`. */
async function readLand(text: string, ctx: DebriefContext): Promise<string> {
  const bounds = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (bounds.length !== 4 || !bounds.every(Number.isFinite))
    throw new CausewayError('INVALID_ARGUMENTS', 'bounds are four numbers in degrees', {
      data: { problems: [{ argument: 'bounds', problem: 'must be west,south,east,north' }] },
    })
  return ctx.store.charts.clipLand(readViewport({ bounds }).bounds, ctx)
}
