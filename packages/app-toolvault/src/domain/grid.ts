/** A grid of points over a box. */
import { CausewayError } from '@causeway/protocol'
import { eastward } from './box.ts'
import type { Bounds } from './command.ts'
import { normalLon } from './longitude.ts'

/** Most points of a grid. */
const mostGridPoints = 10_000

/**
 * Points from the south-west corner on, row by row northward, each an exact multiple of the intervals away from it; the
 * last one is at most on the edge. Throws `GRID_TOO_LARGE`.
 */
export function gridPoints(
  box: Bounds,
  { lat_interval, lon_interval }: { readonly lat_interval: number; readonly lon_interval: number },
): [lon: number, lat: number][] {
  const [west, south, east, north] = eastward(box)
  const columns = steps(west, east, lon_interval)
  const rows = steps(south, north, lat_interval)
  if (columns * rows > mostGridPoints)
    throw new CausewayError('GRID_TOO_LARGE', `the grid would have ${columns * rows} points`, {
      data: { points: columns * rows, most: mostGridPoints, columns, rows },
    })
  return Array.from({ length: rows }, (_, row) => row).flatMap((row) =>
    Array.from({ length: columns }, (_, column): [number, number] => [
      normalLon(Math.min(east, west + column * lon_interval)),
      Math.min(north, south + row * lat_interval),
    ]),
  )
}

/** A billionth of a step more than the edge still counts, since 0.1 has no exact binary form. */
const steps = (low: number, high: number, interval: number): number =>
  Math.floor((high - low) / interval + 1e-9) + 1
