import { type Bounds, normalizeLongitude, unwrapBounds } from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'

const maxPoints = 10_000

/** Returns rows of points from the south-west corner, including points on the edges. Throws `GRID_TOO_LARGE`. */
export function createGridPoints(
  box: Bounds,
  { lat_interval, lon_interval }: { readonly lat_interval: number; readonly lon_interval: number },
): [lon: number, lat: number][] {
  const [west, south, east, north] = unwrapBounds(box)
  const columns = countPoints(west, east, lon_interval)
  const rows = countPoints(south, north, lat_interval)
  if (columns * rows > maxPoints)
    throw new ToolVaultError('GRID_TOO_LARGE', `the grid would have ${columns * rows} points`, {
      data: { points: columns * rows, most: maxPoints, columns, rows },
    })
  return Array.from({ length: rows }, (_, row) => row).flatMap((row) =>
    Array.from({ length: columns }, (_, column): [number, number] => [
      normalizeLongitude(Math.min(east, west + column * lon_interval)),
      Math.min(north, south + row * lat_interval),
    ]),
  )
}

/** Returns the number of points. Tolerates a billionth of a step, because 0.1 has no exact binary form. */
const countPoints = (low: number, high: number, interval: number): number =>
  Math.floor((high - low) / interval + 1e-9) + 1
