import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Bounds, listPaths } from '@causeway/plot'
import { serve } from '@causeway/worker'
import { feature } from 'topojson-client'
import { clipLand, createLandRing, type LandRing } from '../domain/map/coast.ts'
import { type Coast, drawMap, type MapDrawing } from '../domain/map/map-drawing.ts'

export interface ChartMethods {
  draw(drawing: Omit<MapDrawing, 'land' | 'coast'>): string
  clip(bounds: Bounds): string
}

/** Maximum widths of charts and maps with the detailed coast, in degrees. */
const maxDetailedChartDegrees = 5
const maxDetailedMapDegrees = 16

class ChartDrawer implements ChartMethods {
  readonly #land = new Map<Coast, readonly LandRing[]>()

  draw(drawing: Omit<MapDrawing, 'land' | 'coast'>): string {
    return drawMap({ ...drawing, ...this.#loadLand(drawing.data.bounds, maxDetailedChartDegrees) })
  }

  clip(bounds: Bounds): string {
    const { areas } = clipLand(this.#loadLand(bounds, maxDetailedMapDegrees).land, bounds)
    const coordinates = areas.map((area) => [area.map((position) => position.map(roundDegrees))])
    return JSON.stringify({ type: 'MultiPolygon', coordinates })
  }

  #loadLand(
    [west, , east]: Bounds,
    maxDetailedDegrees: number,
  ): { readonly land: readonly LandRing[]; readonly coast: Coast } {
    const coast = east - west <= maxDetailedDegrees ? '10m' : '50m'
    const land = this.#land.get(coast) ?? readLand(coast)
    this.#land.set(coast, land)
    return { land, coast }
  }
}

/** Rounds to about 10 m. */
const roundDegrees = (degrees: number): number => Math.round(degrees * 1e4) / 1e4

const drawer = new ChartDrawer()

serve<ChartMethods>(
  { draw: (drawing) => drawer.draw(drawing), clip: (bounds) => drawer.clip(bounds) },
  { failure: 'drawing the chart failed' },
)

/** Reads Natural Earth land, 1:10 or 1:50 million, from the package world-atlas. */
function readLand(coast: Coast): readonly LandRing[] {
  const file = createRequire(import.meta.url).resolve(`world-atlas/land-${coast}.json`)
  const atlas = JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof feature>[0]
  const { land: landObject } = atlas.objects
  if (landObject === undefined) return []
  const converted = feature(atlas, landObject)
  const features = 'features' in converted ? converted.features : [converted]
  return features.flatMap(({ geometry }) => listPaths(geometry)).map(createLandRing)
}
