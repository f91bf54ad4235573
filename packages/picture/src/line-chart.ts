import type { TopLevelSpec } from 'vega-lite'
import type { LineChart, LineSeries } from './chart-data.ts'
import { createChartPanel, type PanelLabel } from './chart-panel.ts'
import { inks, palette, textSizes } from './chart-theme.ts'
import { measureText, placeLabels } from './text-layout.ts'
import { createValueAxis } from './value-axis.ts'

const sideSpace = 58
const maxLabelRows = 4
/** Width of the semi-bold weight relative to the regular weight. */
const semiBoldFactor = 1.05

/**
 * Builds a Vega-Lite specification with one panel per unit. Rules mark cited places, and shades mark ranges. Omits
 * labels that do not fit.
 */
export function lineChart(chart: LineChart): TopLevelSpec {
  const { title, subtitle, series } = chart
  const panels = groupByUnit(series).map((shown) => ({
    series: shown,
    y: createValueAxis(listFiniteValues(shown), chart.scale ?? 'auto'),
  }))
  const axisExtent = 8 + Math.max(...panels.map(({ y }) => measureText(y.widestLabel, textSizes.label)))
  const pictureWidth = chart.width_px ?? 900
  const width = Math.max(100, Math.floor(pictureWidth - sideSpace - axisExtent))
  const height = panels.length === 1 ? 340 : panels.length === 2 ? 220 : 170
  const domain = findXDomain(chart)
  const labels = layOutLabels(chart, domain, width)
  const colors = assignColors(series)
  return {
    // A longer title would widen the picture.
    title: { text: title, limit: pictureWidth - 40, ...(subtitle === undefined ? {} : { subtitle }) },
    vconcat: panels.map((panel, index) =>
      createChartPanel({
        chart,
        ...panel,
        axisExtent,
        x: { domain, isLabelled: index === panels.length - 1 },
        labels: index === 0 ? labels : [],
        colors,
        size: { width, height },
      }),
    ),
    resolve: { scale: { color: 'independent', strokeDash: 'independent' } },
  }
}

const listFiniteValues = (series: readonly LineSeries[]): number[] =>
  series
    .flatMap(({ y, low, high }) => [y, low, high])
    .flatMap((values) => Array.from(values ?? []))
    .filter((value): value is number => value !== null && Number.isFinite(value))

/** Returns one empty panel if there are no series. */
function groupByUnit(series: readonly LineSeries[]): LineSeries[][] {
  const units = new Map<string, LineSeries[]>()
  for (const one of series) units.set(one.unit, [...(units.get(one.unit) ?? []), one])
  return units.size === 0 ? [[]] : [...units.values()]
}

function assignColors(series: readonly LineSeries[]): ReadonlyMap<string, string> {
  const names = [...new Set(series.map(({ name }) => name))]
  return new Map(names.map((name, index) => [name, palette[index % palette.length] ?? inks.text]))
}

/** Centres a single value. */
function findXDomain({ series, cited = [], ranges = [], x }: LineChart): readonly [number, number] {
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

function layOutLabels(
  { cited = [], ranges = [] }: LineChart,
  [first, last]: readonly [number, number],
  width: number,
): PanelLabel[] {
  const toPixel = (x: number) => ((x - first) / (last - first)) * width
  const requests = [
    ...cited.map(({ x, label }) => ({ text: label, ink: inks.cited, center: toPixel(x) })),
    ...ranges.map(({ from, to, label }) => ({
      text: label,
      ink: inks.rangeText,
      center: (toPixel(from) + toPixel(to)) / 2,
    })),
  ]
  return placeLabels(
    requests.map((item) => ({
      item,
      center: item.center,
      width: Math.min(width, measureText(item.text, textSizes.note) * semiBoldFactor),
    })),
    { width, rows: maxLabelRows },
  ).map(({ item, left, row }) => ({ text: item.text, ink: item.ink, left, row }))
}
