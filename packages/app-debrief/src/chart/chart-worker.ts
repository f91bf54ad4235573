import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { listPaths } from '@causeway/plot'
import { serve } from '@causeway/worker'
import { feature } from 'topojson-client'
import { createLandRing, type LandRing } from '../domain/map/coast.ts'
import { type Coast, drawMap, type MapDrawing } from '../domain/map/map-drawing.ts'

export interface ChartMethods {
  /** Returns SVG text. */
  draw(drawing: Omit<MapDrawing, 'land' | 'coast'>): string
}

/** Charts up to this width have the detailed coast, degrees. */
const maxDetailedWidth = 5

/** Draws charts. Reads a coast when the first chart needs it. */
class ChartDrawer implements ChartMethods {
  readonly #land = new Map<Coast, readonly LandRing[]>()

  draw(drawing: Omit<MapDrawing, 'land' | 'coast'>): string {
    const [west, , east] = drawing.data.bounds
    const coast = east - west <= maxDetailedWidth ? '10m' : '50m'
    const land = this.#land.get(coast) ?? readLand(coast)
    this.#land.set(coast, land)
    return drawMap({ ...drawing, land, coast })
  }
}

const drawer = new ChartDrawer()

serve<ChartMethods>({ draw: (drawing) => drawer.draw(drawing) }, { failure: 'drawing the chart failed' })

/** Reads the land of Natural Earth, 1:10 or 1:50 million, from the package world-atlas. */
function readLand(coast: Coast): readonly LandRing[] {
  const file = createRequire(import.meta.url).resolve(`world-atlas/land-${coast}.json`)
  const atlas = JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof feature>[0]
  const { land: shapes } = atlas.objects
  if (shapes === undefined) return []
  const found = feature(atlas, shapes)
  const features = 'features' in found ? found.features : [found]
  return features.flatMap(({ geometry }) => listPaths(geometry)).map(createLandRing)
}
