/** Returns the compact text of a plot with tracks `track-0` and so on, one fix a minute. */
export function widePlot({
  tracks,
  vertices,
}: {
  readonly tracks: number
  readonly vertices: number
}): string {
  const start = Date.UTC(2024, 0, 1)
  const timestamps = Array.from({ length: vertices }, (_, minute) =>
    new Date(start + minute * 60_000).toISOString(),
  )
  const features = Array.from({ length: tracks }, (_, track) => ({
    type: 'Feature',
    id: `track-${track}`,
    geometry: {
      type: 'LineString',
      coordinates: timestamps.map((_, minute) => [
        Number((-30 + track * 0.05 + minute * 0.004).toFixed(6)),
        Number((40 + Math.sin(minute / 40 + track) * 0.5).toFixed(6)),
      ]),
    },
    properties: { dataType: 'track', name: `Track ${track}`, timestamps },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}
