import type { ChartMarker, ChartRange, LineChart, LineSeries } from './chart-data.ts'
import { palette, textSizes, themeColors } from './chart-theme.ts'
import { measureText } from './text-layout.ts'
import type { ValueAxis } from './value-axis.ts'

export interface PanelLabel {
  readonly text: string
  readonly color: string
  /** Left edge, in pixels of the plot. */
  readonly left: number
  /** Row 0 is next to the plot. */
  readonly row: number
}

interface Panel {
  readonly chart: LineChart
  readonly series: readonly LineSeries[]
  readonly y: ValueAxis
  /** Width of the vertical axis labels in pixels, the same in all panels. */
  readonly axisExtent: number
  readonly x: { readonly domain: readonly [number, number]; readonly isLabelled: boolean }
  readonly labels: readonly PanelLabel[]
  readonly colors: ReadonlyMap<string, string>
  readonly size: { readonly width: number; readonly height: number }
}

interface Row {
  readonly series: string
  readonly x: number
  readonly y: number | null
  readonly low: number | null
  readonly high: number | null
  readonly is_dot: boolean
}

const labelRowHeight = 19
const maxNameWidth = 320
const symbolWidth = 52
const maxDots = 40
const dashes = [
  [1, 0],
  [7, 4],
  [2, 3],
]

export function createChartPanel(panel: Panel) {
  const { chart, series, labels, size } = panel
  const { markers = [] } = chart
  const ranges = clipRanges(panel)
  const markedX = new Set(markers.map(({ x }) => x))
  const rows = series.flatMap((lineSeries) => toRows(lineSeries, markedX))
  const y = createYEncoding(panel)
  const color = createColorEncoding(panel)
  const hasBand = rows.some(({ low }) => low !== null)
  const isEmpty = !hasBand && rows.every((row) => row.y === null)
  return {
    ...size,
    data: { values: rows },
    encoding: { x: createXEncoding(panel) },
    layer: [
      ...(ranges.length > 0 ? [createRangeLayer(ranges, size.height)] : []),
      ...(markers.length > 0 ? [createMarkerLayer(markers, size.height)] : []),
      ...(hasBand ? [createBandLayer(y, color)] : []),
      {
        mark: { type: 'line' as const },
        encoding: { y, color, ...createDashEncoding(panel) },
      },
      {
        transform: [{ filter: 'datum.is_dot' }],
        mark: { type: 'point' as const },
        encoding: { y, color },
      },
      ...labels.map((label) => createLabelLayer(label, size.width)),
      ...(isEmpty ? [createEmptyLayer(size)] : []),
    ],
  }
}

function toRows({ name, x, y, low, high }: LineSeries, markedX: ReadonlySet<number>): Row[] {
  const getValue = (values: ArrayLike<number | null> | undefined, index: number): number | null => {
    const value = values?.[index] ?? null
    return value !== null && Number.isFinite(value) ? value : null
  }
  const rows: Row[] = []
  for (let index = 0; index < x.length; index++) {
    const value = getValue(y, index)
    const lowValue = getValue(low, index)
    const highValue = getValue(high, index)
    const hasBand = lowValue !== null && highValue !== null
    const isIsolated = getValue(y, index - 1) === null && getValue(y, index + 1) === null
    const pointX = x[index] ?? Number.NaN
    if (!Number.isFinite(pointX)) continue
    rows.push({
      series: name,
      x: pointX,
      y: value,
      low: hasBand ? lowValue : null,
      high: hasBand ? highValue : null,
      is_dot: value !== null && (isIsolated || x.length <= maxDots || markedX.has(pointX)),
    })
  }
  return rows
}

/** Returns a title such as `kinetic energy of body 1 (J)` or `J`, with the type of a non-linear scale. */
function formatAxisTitle(series: readonly LineSeries[], { type }: ValueAxis): string {
  const unit = series[0]?.unit ?? ''
  const quantities = new Set(
    series.map(({ name, quantity }) => quantity ?? (series.length === 1 ? name : '')),
  )
  const quantity = quantities.size === 1 ? ([...quantities][0] ?? '') : ''
  const title = quantity === '' ? unit || 'value' : unit === '' ? quantity : `${quantity} (${unit})`
  return type === 'linear' ? title : `${title} · ${type} scale`
}

function createXEncoding({ chart, x }: Panel) {
  const isFrame = chart.x === 'frame'
  return {
    field: 'x',
    type: 'quantitative' as const,
    scale: { domain: [...x.domain], nice: false, zero: false },
    axis: {
      title: x.isLabelled ? (isFrame ? 'frame' : 'time (s)') : null,
      labels: x.isLabelled,
      labelFlush: true,
      tickCount: 10,
      ...(isFrame ? { tickMinStep: 1, format: ',d' } : {}),
    },
  }
}

function createYEncoding({ y, series, axisExtent }: Panel) {
  const { type, domain, constant, ticks, labelExpr } = y
  return {
    field: 'y',
    type: 'quantitative' as const,
    scale: {
      type,
      domain: [...domain],
      // A log scale has fixed ends and does not include zero.
      ...(type === 'linear' ? { zero: false, nice: true } : { nice: false }),
      ...(constant === undefined ? {} : { constant }),
    },
    axis: {
      title: formatAxisTitle(series, y),
      minExtent: axisExtent,
      maxExtent: axisExtent,
      // With a tick count, Vega would omit the given ticks.
      ...(ticks === null ? { tickCount: 6 } : { values: [...ticks] }),
      ...(labelExpr === null ? {} : { labelExpr }),
    },
  }
}

function createColorEncoding(panel: Panel) {
  const { series, colors } = panel
  const names = series.map(({ name }) => name)
  const range = names.map((name) => colors.get(name) ?? themeColors.text)
  return {
    field: 'series',
    type: 'nominal' as const,
    scale: { domain: names, range },
    legend: createLegend(panel),
  }
}

/** Assigns dashes, like colours, by the order of names in all panels. */
function createDashEncoding({ series, colors }: Panel) {
  if (colors.size <= palette.length) return {}
  const order = [...colors.keys()]
  const range = series.map(
    ({ name }) => dashes[Math.floor(order.indexOf(name) / palette.length) % dashes.length] ?? [1, 0],
  )
  const names = series.map(({ name }) => name)
  return { strokeDash: { field: 'series', type: 'nominal' as const, scale: { domain: names, range } } }
}

function createLegend({ series, labels, size }: Panel) {
  if (series.length < 2) return null
  const labelRows = Math.max(0, ...labels.map(({ row }) => row + 1))
  const widestName = Math.max(...series.map(({ name }) => measureText(name, textSizes.label)))
  const columns = Math.floor(size.width / (Math.min(widestName, maxNameWidth) + symbolWidth))
  return { offset: 10 + labelRows * labelRowHeight, labelLimit: maxNameWidth, columns: Math.max(1, columns) }
}

function createBandLayer(
  y: ReturnType<typeof createYEncoding>,
  color: ReturnType<typeof createColorEncoding>,
) {
  return {
    mark: { type: 'area' as const, fillOpacity: 0.22, strokeWidth: 0.8, strokeOpacity: 0.6 },
    encoding: { y: { ...y, field: 'low' }, y2: { field: 'high' }, fill: color, stroke: color },
  }
}

const singleDatum = { values: [{}] }

/** Clips ranges to the panel. Ranges extend by half a frame on each side and are at least two pixels wide. */
function clipRanges({ chart, x, size }: Panel) {
  const [first, last] = x.domain
  const halfFrame = chart.x === 'frame' ? 0.5 : 0
  const minWidth = ((last - first) / size.width) * 2
  return (chart.ranges ?? []).map(({ from, to }) => {
    const margin = Math.max(halfFrame, (minWidth - (to - from)) / 2)
    return { from: Math.max(first, from - margin), to: Math.min(last, to + margin) }
  })
}

const createRangeLayer = (ranges: readonly Omit<ChartRange, 'label'>[], height: number) => ({
  data: { values: [...ranges] },
  mark: { type: 'rect' as const, color: themeColors.range, opacity: 0.32 },
  encoding: { x: { field: 'from' }, x2: { field: 'to' }, y: { value: 0 }, y2: { value: height } },
})

const createMarkerLayer = (markers: readonly ChartMarker[], height: number) => ({
  data: { values: [...markers] },
  mark: { type: 'rule' as const, color: themeColors.marker, strokeWidth: 1.6 },
  encoding: { y: { value: -4 }, y2: { value: height } },
})

const createLabelLayer = ({ text, color, left, row }: PanelLabel, width: number) => ({
  data: singleDatum,
  mark: {
    type: 'text' as const,
    text,
    color,
    fontSize: textSizes.note,
    fontWeight: 600 as const,
    align: 'left' as const,
    baseline: 'bottom' as const,
    limit: width,
  },
  encoding: { x: { value: left }, y: { value: -7 - row * labelRowHeight } },
})

const createEmptyLayer = ({ width, height }: Panel['size']) => ({
  data: singleDatum,
  mark: {
    type: 'text' as const,
    text: 'no values',
    color: themeColors.secondaryText,
    fontSize: textSizes.subtitle,
  },
  encoding: { x: { value: width / 2 }, y: { value: height / 2 } },
})
