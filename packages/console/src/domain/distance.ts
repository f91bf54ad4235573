import type { Series } from '../data/replay.ts'

/**
 * Returns the distance between two bodies, in m, at the frames that all series contain. `a` and `b` contain the
 * series of the three coordinates of a body.
 */
export function toDistances(name: string, a: readonly Series[], b: readonly Series[]): Series {
  const otherAxes = b.map(
    ({ frames, values }) => new Map(frames.map((frame, index) => [frame, values[index] ?? null])),
  )
  const ownAxes = a.map(
    ({ frames, values }) => new Map(frames.map((frame, index) => [frame, values[index] ?? null])),
  )
  const shared = (a[0]?.frames ?? []).filter((frame) =>
    [...ownAxes, ...otherAxes].every((axis) => axis.has(frame)),
  )
  const values = shared.map((frame) => {
    const differences = ownAxes.map((axis, index) => {
      const [from, to] = [axis.get(frame), otherAxes[index]?.get(frame)]
      return from == null || to == null ? Number.NaN : to - from
    })
    const distance = Math.hypot(...differences)
    return Number.isNaN(distance) ? null : distance
  })
  return { name, unit: 'm', frames: shared, values }
}
