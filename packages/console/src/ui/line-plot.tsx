import { type ReadonlySignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './line-plot.css'
import type { Series } from '../data/replay.ts'
import { fromSymlog, needsLogAxis, toSymlog } from '../domain/fit.ts'
import { formatNumber } from '../domain/text.ts'
import { readColors } from './canvas-colors.ts'
import { useThemeVersion } from './theme-version.ts'

/** Width of the value axis, in px. The time axis above has the same margin. */
const gutter = 64
const rightMargin = 12

/** Dashes of the series, in addition to their colours. */
const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]]
export const maxSeries = 4

interface LinePlotProps {
  /** The marked frame, and what a click changes. */
  readonly playback: { readonly frame: ReadonlySignal<number>; seek(frame: number): void }
  readonly series: readonly Series[]
  readonly first: number
  readonly last: number
  readonly title: string
  /** Subtracts the first value. */
  readonly isRelative?: boolean
}

/** At most four quantities over frames, with a cursor at one of them. */
export function LinePlot({ playback, first, last, series, isRelative = false, title }: LinePlotProps) {
  const themeVersion = useThemeVersion()
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const cursor = useRef<HTMLDivElement | undefined>(undefined)
  const theme = themeVersion.value
  const place = (): void => {
    if (plot.current === undefined || cursor.current === undefined) return
    cursor.current.style.left = `${plot.current.valToPos(playback.frame.peek(), 'x')}px`
  }
  useEffect(() => {
    if (box.current === null) return
    const host = box.current
    const { data, isLog } = toPlotData(series, isRelative)
    const options = createOptions({
      series,
      isLog,
      range: [first, last],
      colors: readColors(host),
      width: host.clientWidth,
    })
    const made = new uPlot(
      {
        ...options,
        hooks: { ready: [place], setSize: [place], setScale: [place] },
      },
      data,
      host,
    )
    plot.current = made
    cursor.current = document.createElement('div')
    cursor.current.className = 'plot-cursor'
    made.over.append(cursor.current)
    place()
    const seek = ({ clientX }: MouseEvent): void =>
      playback.seek(made.posToVal(clientX - made.over.getBoundingClientRect().left, 'x'))
    made.over.addEventListener('click', seek)
    const observer = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: made.height }))
    observer.observe(host)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [series, theme])
  useEffect(() => plot.current?.setScale('x', { min: first, max: last }), [first, last])
  useSignalEffect(() => {
    playback.frame.value
    place()
  })
  return <div ref={box} class="plot-box" role="img" aria-label={describePlot(title, series)} />
}

/** Series on common frames. */
function toPlotData(
  series: readonly Series[],
  isRelative: boolean,
): { data: uPlot.AlignedData; isLog: boolean } {
  const tables = series.map(({ frames, values }): uPlot.AlignedData => {
    const base = isRelative ? (values.find((value) => value !== null) ?? 0) : 0
    return [
      [...frames],
      values.map((value) => (value === null || !Number.isFinite(value) ? null : value - base)),
    ]
  })
  const joined = uPlot.join(tables)
  const isLog = joined.slice(1).some((values) => needsLogAxis(values as (number | null)[]))
  if (!isLog) return { data: joined, isLog }
  const [frames, ...rest] = joined
  const compressed = rest.map((values) =>
    [...values].map((value) => (value == null ? value : toSymlog(value))),
  )
  return { data: [frames, ...compressed] as uPlot.AlignedData, isLog }
}

function createOptions({
  series,
  isLog,
  range,
  colors,
  width,
}: {
  series: readonly Series[]
  isLog: boolean
  range: [number, number]
  colors: ReturnType<typeof readColors>
  width: number
}): uPlot.Options {
  const axis = {
    stroke: colors.text,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { stroke: colors.grid, width: 1 },
  }
  const format = (value: number): string =>
    formatNumber(Number((isLog ? fromSymlog(value) : value).toPrecision(3)))
  return {
    width,
    height: 130,
    padding: [8, rightMargin, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range } },
    axes: [
      {
        ...axis,
        size: 24,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000],
      },
      { ...axis, size: gutter, values: (_plot, values) => values.map(format) },
    ],
    series: [
      {},
      ...series.map((_, index) => ({
        stroke: colors.series[index] ?? colors.text,
        width: 1.6,
        dash: dashes[index] ?? [],
        spanGaps: false,
        points: { show: false },
      })),
    ],
  }
}

function describePlot(title: string, series: readonly Series[]): string {
  const ranges = series.map(({ name, unit, values }) => {
    const finite = values.filter((value): value is number => value !== null && Number.isFinite(value))
    return finite.length === 0
      ? `${name}: no values`
      : `${name}: ${formatNumber(Math.min(...finite))} to ${formatNumber(Math.max(...finite))} ${unit}`
  })
  return `${title}. ${ranges.join('; ')}`
}
