import type { TopLevelSpec } from 'vega-lite'
import type { LineChart, LineSeries } from './chart-data.ts'
import { chartPanel, type PanelLabel } from './chart-panel.ts'
import { inks, palette, textSizes } from './chart-theme.ts'
import { placeLabels, textWidth } from './label-rows.ts'

/** Room left and right of the plots, CSS pixels: paddings, labels and title of the vertical axis. */
const sideRoom = 138
const mostLabelRows = 4

/**
 * A Vega-Lite specification of curves over frames or time: a panel for each unit, cited places marked by a rule and
 * runs by a shade. Their labels stand above the first panel, where they cover no data; those that find no room there
 * are left out.
 */
export function lineChart(chart: LineChart): TopLevelSpec {
  const { title, subtitle, series } = chart
  const width = Math.max(100, (chart.width_px ?? 900) - sideRoom)
  const domain = xDomain(chart)
  const labels = labelsAbove(chart, domain, width)
  const colors = colorsByName(series)
  const panels = panelsOf(series)
  const height = panels.length === 1 ? 340 : panels.length === 2 ? 220 : 170
  return {
    title: { text: title, ...(subtitle === undefined ? {} : { subtitle }) },
    vconcat: panels.map((shown, index) =>
      chartPanel({
        chart,
        series: shown,
        x: { domain, isLabelled: index === panels.length - 1 },
        labels: index === 0 ? labels : [],
        colors,
        size: { width, height },
      }),
    ),
    resolve: { scale: { color: 'independent', strokeDash: 'independent' } },
  }
}

/** The series of each unit; one empty panel where there are none. */
function panelsOf(series: readonly LineSeries[]): LineSeries[][] {
  const units = new Map<string, LineSeries[]>()
  for (const one of series) units.set(one.unit, [...(units.get(one.unit) ?? []), one])
  return units.size === 0 ? [[]] : [...units.values()]
}

function colorsByName(series: readonly LineSeries[]): ReadonlyMap<string, string> {
  const names = [...new Set(series.map(({ name }) => name))]
  return new Map(names.map((name, index) => [name, palette[index % palette.length] ?? inks.text]))
}

/** From the first to the last x of anything that is shown; a single place stands in the middle. */
function xDomain({ series, cited = [], ranges = [], x }: LineChart): readonly [number, number] {
  // Ascending: the ends of a series are its least and greatest.
  const ends = series.flatMap((one) => [one.x[0], one.x[one.x.length - 1]])
  const places = [
    ...ends,
    ...cited.map((place) => place.x),
    ...ranges.flatMap(({ from, to }) => [from, to]),
  ].filter((place): place is number => Number.isFinite(place))
  if (places.length === 0) return [0, 1]
  const first = Math.min(...places)
  const last = Math.max(...places)
  const half = x === 'frame' ? 1 : 0.01
  return first < last ? [first, last] : [first - half, last + half]
}

function labelsAbove(
  { cited = [], ranges = [] }: LineChart,
  [first, last]: readonly [number, number],
  width: number,
): PanelLabel[] {
  const pixel = (x: number) => ((x - first) / (last - first)) * width
  const wishes = [
    ...cited.map(({ x, label }) => ({ text: label, ink: inks.cited, center: pixel(x) })),
    ...ranges.map(({ from, to, label }) => ({
      text: label,
      ink: inks.rangeText,
      center: (pixel(from) + pixel(to)) / 2,
    })),
  ]
  return placeLabels(
    wishes.map((item) => ({ item, center: item.center, width: textWidth(item.text, textSizes.note) })),
    { width, rows: mostLabelRows },
  ).map(({ item, left, row }) => ({ text: item.text, ink: item.ink, left, row }))
}
