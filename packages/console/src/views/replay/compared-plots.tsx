import type { Divergence, Metadata, Series } from '../../data/replay.ts'
import { useConsole } from '../../ui/console.ts'
import { LinePlot } from '../../ui/line-plot.tsx'
import { LoadedView, useLoaded } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

interface ComparedPlotsProps {
  readonly a: Metadata
  readonly b: Metadata
  readonly playback: Playback
  readonly align: 'frame' | 'time'
  readonly divergences: readonly Divergence[]
}

/** The energy of both recordings, and the speed of the body that differs first. */
export function ComparedPlots(props: ComparedPlotsProps) {
  const { divergences, align } = props
  const body = divergences.find(({ body_id }) => body_id !== null)?.body_id
  if (align === 'time') return null
  return (
    <div class="plots">
      <ComparedPlot {...props} title="Energy" name="energy.total" />
      {body !== undefined && (
        <ComparedPlot {...props} title={`Speed of body ${body}`} name={`body.${body}.speed`} />
      )}
    </div>
  )
}

function ComparedPlot({ a, b, playback, title, name }: ComparedPlotsProps & { title: string; name: string }) {
  const { server } = useConsole()
  const read = async (recording: string, signal: AbortSignal): Promise<readonly Series[]> =>
    (
      await server.call<{ series: readonly Series[] }>(
        'replay',
        'get_series',
        { recording, series: [name], max_points: 2000 },
        { signal },
      )
    ).series
  const loaded = useLoaded(
    async (signal) => (await Promise.all([read(a.recording, signal), read(b.recording, signal)])).flat(),
    [a.recording, b.recording, name],
  )
  return (
    <figure class="plot">
      <figcaption class="row">
        <strong>{title}</strong>
        {loaded.value?.map(({ unit }, index) => (
          <span key={index} class={`legend series${index + 1}`}>
            {index === 0 ? 'left' : 'right'} <span class="muted">{unit}</span>
          </span>
        ))}
      </figcaption>
      <LoadedView loaded={loaded}>
        {(series) => (
          <LinePlot {...{ playback, title, series }} first={playback.first} last={playback.lastFrame.value} />
        )}
      </LoadedView>
    </figure>
  )
}
