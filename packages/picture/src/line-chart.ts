import type { TopLevelSpec } from 'vega-lite'
import type { LineChart, LineSeries } from './chart-data.ts'
import { createChartPanel, type PanelLabel } from './chart-panel.ts'
import { palette, textSizes, themeColors } from './chart-theme.ts'
import { measureText, placeLabels } from './text-layout.ts'
import { createValueAxis } from './value-axis.ts'

const sideMargin = 58
const maxLabelRows = 4
/** Width of the semi-bold weight relative to the regular weight. */
const semiBoldFactor = 1.05

/**
 * Builds a Vega-Lite specification with one panel per unit. Draws markers as rules and ranges as shaded areas. Omits
 * labels that do not fit.
 */
export function lineChart(chart: LineChart): TopLevelSpec {
  const { title, subtitle, series } = chart
  const panels = groupByUnit(series).map((unitSeries) => ({
    series: unitSeries,
    y: createValueAxis(listFiniteValues(unitSeries), chart.scale ?? 'auto'),
  }))
  const axisExtent = 8 + Math.max(...panels.map(({ y }) => measureText(y.widestLabel, textSizes.label)))
  const pictureWidth = chart.width_px ?? 900
  const width = Math.max(100, Math.floor(pictureWidth - sideMargin - axisExtent))
  const height = panels.length === 1 ? 340 : panels.length === 2 ? 220 : 170
  const domain = findXDomain(chart)
  const labels = arrangeLabels(chart, domain, width)
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

function groupByUnit(series: readonly LineSeries[]): LineSeries[][] {
  const seriesByUnit = new Map<string, LineSeries[]>()
  for (const lineSeries of series)
    seriesByUnit.set(lineSeries.unit, [...(seriesByUnit.get(lineSeries.unit) ?? []), lineSeries])
  return seriesByUnit.size === 0 ? [[]] : [...seriesByUnit.values()]
}

function assignColors(series: readonly LineSeries[]): ReadonlyMap<string, string> {
  const names = [...new Set(series.map(({ name }) => name))]
  return new Map(names.map((name, index) => [name, palette[index % palette.length] ?? themeColors.text]))
}

/** Centres a single value. */
function findXDomain({ series, markers = [], ranges = [], x }: LineChart): readonly [number, number] {
  const endpoints = series.flatMap((lineSeries) => [lineSeries.x[0], lineSeries.x[lineSeries.x.length - 1]])
  const xValues = [
    ...endpoints,
    ...markers.map((marker) => marker.x),
    ...ranges.flatMap(({ from, to }) => [from, to]),
  ].filter((value): value is number => Number.isFinite(value))
  if (xValues.length === 0) return [0, 1]
  const first = Math.min(...xValues)
  const last = Math.max(...xValues)
  const halfWidth = x === 'frame' ? 1 : 0.01
  return first < last ? [first, last] : [first - halfWidth, last + halfWidth]
}

function arrangeLabels(
  { markers = [], ranges = [] }: LineChart,
  [first, last]: readonly [number, number],
  width: number,
): PanelLabel[] {
  const toPixel = (x: number) => ((x - first) / (last - first)) * width
  const requestedLabels = [
    ...markers.map(({ x, label }) => ({ text: label, color: themeColors.marker, center: toPixel(x) })),
    ...ranges.map(({ from, to, label }) => ({
      text: label,
      color: themeColors.rangeText,
      center: (toPixel(from) + toPixel(to)) / 2,
    })),
  ]
  return placeLabels(
    requestedLabels.map((item) => ({
      item,
      center: item.center,
      width: Math.min(width, measureText(item.text, textSizes.note) * semiBoldFactor),
    })),
    { width, rows: maxLabelRows },
  ).map(({ item, left, row }) => ({ text: item.text, color: item.color, left, row }))
}
