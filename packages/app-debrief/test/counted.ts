/** Returns a feature with a number and enough other data to detect a partial write. */
export const counted = (count: number) => ({
  type: 'Feature',
  id: 'counter',
  geometry: { type: 'Point', coordinates: [0, 50] },
  properties: { count, text: String(count % 10).repeat(60_000) },
})

export const countedPlot = (count: number): string =>
  `${JSON.stringify({ type: 'FeatureCollection', features: [counted(count)] }, null, 2)}\n`
