import { type ReadonlySignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import './line-plot.css'
import type { Series } from '../../data/replay.ts'
import { fromSymlog } from '../../domain/fit.ts'
import { type AxisRange, type Curve, findValueRange, listTicks, toCurves } from '../../domain/line-chart.ts'
import { formatCount, formatNumber } from '../../domain/text.ts'
import { readColors, useThemeVersion } from '../canvas-colors.ts'

/** Height of a plot and margins around its area, in px. The timeline and `line-plot.css` use the same margins. */
const height = 130
const plotArea = { left: 64, right: 12, top: 8, bottom: 24 }

const labelWidth = 60
const labelHeight = 30

const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]]
export const maxSeries = 4

interface LinePlotProps {
  /** The marked frame. A click calls `seek`. */
  readonly playback: { readonly frame: ReadonlySignal<number>; seek(frame: number): void }
  readonly series: readonly Series[]
  readonly first: number
  readonly last: number
  readonly title: string
  readonly isRelative?: boolean
  /** Whether the value axis is logarithmic; by default only if the values require it. */
  readonly isLog?: boolean | undefined
}

/** Plots at most four quantities over frames, with a cursor at the marked frame. */
export function LinePlot({ playback, first, last, series, isRelative = false, ...props }: LinePlotProps) {
  const { title, isLog: isLogRequested } = props
  const themeVersion = useThemeVersion()
  const canvas = useRef<HTMLCanvasElement>(null)
  const plotAreaRef = useRef<HTMLDivElement>(null)
  const cursor = useRef<HTMLDivElement>(null)
  const theme = themeVersion.value
  const span = Math.max(1, last - first)
  const placeCursor = (): void => {
    const frame = playback.frame.value
    if (cursor.current !== null) cursor.current.style.left = `${(100 * (frame - first)) / span}%`
  }
  useEffect(() => {
    const host = canvas.current?.parentElement
    if (canvas.current === null || host == null) return
    const { curves, isLog } = toCurves(series, isRelative, isLogRequested)
    const chart = {
      ...{ curves, isLog, frames: [first, last] as const },
      values: findValueRange(curves, first, last),
      colors: readColors(host),
    }
    const draw = (): void => drawChart(canvas.current, chart, host.clientWidth)
    const observer = new ResizeObserver(draw)
    observer.observe(host)
    return () => observer.disconnect()
  }, [series, theme, first, last, isLogRequested])
  useEffect(() => {
    const seek = ({ clientX }: MouseEvent): void => {
      const { left, width } = (plotAreaRef.current as HTMLElement).getBoundingClientRect()
      playback.seek(first + (span * (clientX - left)) / width)
    }
    plotAreaRef.current?.addEventListener('click', seek)
    return () => plotAreaRef.current?.removeEventListener('click', seek)
  }, [playback, first, last])
  useEffect(placeCursor, [first, last])
  useSignalEffect(placeCursor)
  return (
    <div class="plot-box" role="img" aria-label={describePlot(title, series)}>
      <canvas ref={canvas} />
      <div ref={plotAreaRef} class="plot-area">
        <div ref={cursor} class="plot-cursor" />
      </div>
    </div>
  )
}

interface Chart {
  readonly curves: readonly Curve[]
  readonly isLog: boolean
  readonly frames: AxisRange
  readonly values: AxisRange
  readonly colors: ReturnType<typeof readColors>
}

function drawChart(canvas: HTMLCanvasElement | null, chart: Chart, width: number): void {
  const context = canvas?.getContext('2d')
  if (canvas === null || context == null || width <= plotArea.left + plotArea.right) return
  canvas.width = Math.round(width * devicePixelRatio)
  canvas.height = Math.round(height * devicePixelRatio)
  context.scale(canvas.width / width, canvas.height / height)
  const { frames, values } = chart
  const right = width - plotArea.right
  const bottom = height - plotArea.bottom
  const toX = (frame: number): number =>
    plotArea.left + ((right - plotArea.left) * (frame - frames[0])) / Math.max(1, frames[1] - frames[0])
  const toY = (value: number): number =>
    bottom - ((bottom - plotArea.top) * (value - values[0])) / (values[1] - values[0])
  drawAxes(context, chart, { toX, toY, right, bottom })
  context.beginPath()
  context.rect(plotArea.left, plotArea.top, right - plotArea.left, bottom - plotArea.top)
  context.clip()
  context.lineWidth = 1.6
  for (const [index, curve] of chart.curves.entries()) {
    context.strokeStyle = chart.colors.series[index] ?? chart.colors.text
    context.setLineDash(dashes[index] ?? [])
    drawCurve(context, curve, toX, toY)
  }
}

interface Placement {
  readonly toX: (frame: number) => number
  readonly toY: (value: number) => number
  readonly right: number
  readonly bottom: number
}

function drawAxes(
  context: CanvasRenderingContext2D,
  { frames, values, isLog, colors }: Chart,
  { toX, toY, right, bottom }: Placement,
): void {
  context.font = '12px system-ui, sans-serif'
  context.fillStyle = colors.text
  context.strokeStyle = colors.grid
  context.lineWidth = 1
  context.beginPath()
  context.textAlign = 'center'
  context.textBaseline = 'top'
  for (const frame of listTicks(frames, (right - plotArea.left) / labelWidth, 1)) {
    const x = Math.round(toX(frame)) + 0.5
    context.moveTo(x, plotArea.top)
    context.lineTo(x, bottom + 4)
    context.fillText(formatCount(frame), x, bottom + 8)
  }
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  for (const value of listTicks(values, (bottom - plotArea.top) / labelHeight + 1)) {
    const y = Math.round(toY(value)) + 0.5
    context.moveTo(plotArea.left - 4, y)
    context.lineTo(right, y)
    const label = formatNumber(Number((isLog ? fromSymlog(value) : value).toPrecision(3)))
    context.fillText(label, plotArea.left - 8, y)
  }
  context.stroke()
}

/** Draws a line with gaps for missing values. A value between two gaps becomes a short line. */
function drawCurve(
  context: CanvasRenderingContext2D,
  { frames, values }: Curve,
  toX: Placement['toX'],
  toY: Placement['toY'],
): void {
  context.beginPath()
  let isDrawing = false
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isDrawing = false
      continue
    }
    const x = toX(frames[index] ?? 0)
    if (!isDrawing) context.moveTo(x - 0.8, toY(value))
    context.lineTo(values[index + 1] == null && !isDrawing ? x + 0.8 : x, toY(value))
    isDrawing = true
  }
  context.stroke()
}

function describePlot(title: string, series: readonly Series[]): string {
  const ranges = series.map(({ name, unit, values }) => {
    const finiteValues = values.filter((value): value is number => value !== null && Number.isFinite(value))
    return finiteValues.length === 0
      ? `${name}: no values`
      : `${name}: ${formatNumber(Math.min(...finiteValues))} to ${formatNumber(Math.max(...finiteValues))} ${unit}`
  })
  return `${title}. ${ranges.join('; ')}`
}
