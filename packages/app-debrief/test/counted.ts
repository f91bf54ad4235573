/** A feature that holds a number, and enough beside it that a torn write would show. */
export const counted = (count: number) => ({
  type: 'Feature',
  id: 'counter',
  geometry: { type: 'Point', coordinates: [0, 50] },
  properties: { count, text: String(count % 10).repeat(60_000) },
})

/** The text of a plot with this number. */
export const countedPlot = (count: number): string =>
  `${JSON.stringify({ type: 'FeatureCollection', features: [counted(count)] }, null, 2)}\n`
