/** The worker that draws charts: it keeps the coastline of the world, which takes long to unpack. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { serve } from '@causeway/worker'
import { feature } from 'topojson-client'
import { boundsOf } from './domain/bounds.ts'
import { pathsOf } from './domain/feature.ts'
import type { LandRing } from './domain/map/coast.ts'
import { drawMap, type MapDrawing } from './domain/map/map-drawing.ts'

/** What the worker does. */
export interface MapMethods {
  /** SVG text. */
  draw(drawing: Omit<MapDrawing, 'land'>): string
}

const land = readLand()

serve<MapMethods>(
  { draw: (drawing) => drawMap({ ...drawing, land }) },
  { failure: 'drawing the chart failed' },
)

/** Natural Earth, 1:50 million, as the package world-atlas has it. */
function readLand(): readonly LandRing[] {
  const file = createRequire(import.meta.url).resolve('world-atlas/land-50m.json')
  const atlas = JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof feature>[0]
  const { land: shapes } = atlas.objects
  if (shapes === undefined) return []
  const found = feature(atlas, shapes)
  const features = 'features' in found ? found.features : [found]
  return features
    .flatMap(({ geometry }) => pathsOf(geometry))
    .map((points) => {
      // As it stands: cut at the antimeridian, so no ring needs the short way round.
      const lons = points.map(([lon]) => lon)
      const [, south, , north] = boundsOf([{ type: 'LineString', coordinates: points }]) ?? [0, 0, 0, 0]
      return { points, bounds: [Math.min(...lons), south, Math.max(...lons), north] }
    })
}
