import { useMemo, useState } from 'preact/hooks'
import type { Series } from '../../data/replay.ts'
import type { SceneBody } from '../../domain/bodies.ts'
import { toCurves } from '../../domain/line-chart.ts'
import { formatNumber } from '../../domain/text.ts'
import { LinePlot, maxSeries } from '../../ui/charts/line-plot.tsx'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { LoadedView, useLoaded } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

export function Plots({
  playback,
  recording,
  bodies,
  selected,
  version,
}: {
  playback: Playback
  recording: string
  bodies: readonly SceneBody[]
  selected: number | undefined
  version: number
}) {
  const shownSeries = [
    ...bodies.filter(({ id }) => id === selected),
    ...bodies.filter(({ id }) => id !== selected),
  ].slice(0, maxSeries)
  return (
    <div class="plots">
      <SeriesPlot
        {...{ playback, recording, version }}
        title="Energy, change since the first frame"
        names={['energy.total']}
        labels={['total energy']}
        isRelative
      />
      {shownSeries.length > 0 && (
        <SeriesPlot
          {...{ playback, recording, version }}
          title={
            bodies.length > maxSeries ? `Speed of ${shownSeries.length} of ${bodies.length} bodies` : 'Speed'
          }
          names={shownSeries.map(({ id }) => `body.${id}.speed`)}
          labels={shownSeries.map(({ name }) => name)}
        />
      )}
    </div>
  )
}

interface PlotProps {
  readonly playback: Playback
  readonly recording: string
  readonly version: number
  readonly title: string
  readonly names: readonly string[]
  readonly labels: readonly string[]
  readonly isRelative?: boolean
}

function SeriesPlot(props: PlotProps) {
  const { recording, names, title, labels, playback, version, isRelative = false } = props
  const [scale, setScale] = useState<boolean>()
  const { server } = useConsole()
  const loaded = useLoaded(
    (signal) =>
      server.call<{ series: readonly Series[] }>(
        'replay',
        'get_series',
        { recording, series: names, max_points: 2000 },
        { signal },
      ),
    [recording, names.join()],
    { version },
  )
  const shownSeries = loaded.value?.series
  const needsLog = useMemo(
    () => shownSeries !== undefined && toCurves(shownSeries, isRelative).isLog,
    [shownSeries],
  )
  const isLog = scale ?? needsLog
  return (
    <figure class="plot">
      <figcaption class="row">
        <strong>{title}</strong>
        {loaded.value?.series.map(({ name, unit }, index) => (
          <span key={name} class={`legend series${index + 1}`}>
            <ForeignText text={labels[index] ?? ''} max={40} /> <span class="muted">{unit}</span>
          </span>
        ))}
        <button type="button" class="button" aria-pressed={isLog} onClick={() => setScale(!isLog)}>
          Log scale
        </button>
      </figcaption>
      <LoadedView loaded={loaded}>
        {({ series }) => (
          <>
            <LinePlot
              {...{ ...props, series, isLog }}
              first={playback.first}
              last={playback.lastFrame.value}
            />
            <SeriesTable {...{ series, labels, title }} />
          </>
        )}
      </LoadedView>
    </figure>
  )
}

const maxRows = 50

interface TableProps {
  readonly series: readonly Series[]
  readonly labels: readonly string[]
  readonly title: string
}

function SeriesTable({ series, labels, title }: TableProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="plot-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        <section class="scroll" aria-label={title} tabIndex={0}>
          <table aria-label={`${title}: recorded values`}>
            <thead>
              <tr>
                <th class="number">Frame</th>
                {series.map(({ name, unit }, index) => (
                  <th class="number" key={name}>
                    <ForeignText text={labels[index] ?? ''} max={40} /> {unit}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {sampleRows(series).map(([frame, ...values]) => (
                <tr key={frame}>
                  <td class="number">{frame}</td>
                  {values.map((value, index) => (
                    <td class="number" key={index}>
                      {value === null ? '–' : formatNumber(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}

/** Returns at most `maxRows` frames with the recorded value of each series. */
function sampleRows(series: readonly Series[]): readonly (readonly [number, ...(number | null)[]])[] {
  const frames = series[0]?.frames ?? []
  const values = series.map(
    (item) => new Map(item.frames.map((frame, at) => [frame, item.values[at] ?? null])),
  )
  const step = Math.ceil(frames.length / maxRows)
  return frames
    .filter((_, at) => at % Math.max(1, step) === 0)
    .map((frame) => [frame, ...values.map((item) => item.get(frame) ?? null)])
}
