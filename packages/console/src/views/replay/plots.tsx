import type { Series } from '../../data/replay.ts'
import type { SceneBody } from '../../domain/bodies.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { LinePlot, maxSeries } from '../../ui/line-plot.tsx'
import { LoadedView, useLoaded } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

/** The energy of the system and the speeds of bodies, on the axis of the timeline. */
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
  const shown = [
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
      {shown.length > 0 && (
        <SeriesPlot
          {...{ playback, recording, version }}
          title={bodies.length > maxSeries ? `Speed of ${shown.length} of ${bodies.length} bodies` : 'Speed'}
          names={shown.map(({ id }) => `body.${id}.speed`)}
          labels={shown.map(({ name }) => name)}
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
  const { recording, names, title, labels, playback, version } = props
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
  return (
    <figure class="plot">
      <figcaption class="row">
        <strong>{title}</strong>
        {loaded.value?.series.map(({ name, unit }, index) => (
          <span key={name} class={`legend series${index + 1}`}>
            <ForeignText text={labels[index] ?? ''} max={40} /> <span class="muted">{unit}</span>
          </span>
        ))}
      </figcaption>
      <LoadedView loaded={loaded}>
        {({ series }) => (
          <LinePlot {...props} series={series} first={playback.first} last={playback.lastFrame.value} />
        )}
      </LoadedView>
    </figure>
  )
}
