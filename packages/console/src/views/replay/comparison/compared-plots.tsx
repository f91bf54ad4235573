import type { Comparison, Metadata, Series } from '../../../data/replay.ts'
import { toDistances } from '../../../domain/distance.ts'
import { LinePlot } from '../../../ui/charts/line-plot.tsx'
import { useConsole } from '../../../ui/console.ts'
import { LoadedView, useLoaded } from '../../../ui/state.tsx'
import type { Playback } from '../playback.ts'

interface ComparedPlotsProps {
  readonly a: Metadata
  readonly b: Metadata
  readonly playback: Playback
  readonly comparison: Comparison | undefined
}

/** Frames are matched by id. */
export function ComparedPlots({ comparison, ...props }: ComparedPlotsProps) {
  const bodies = comparison === undefined ? undefined : findCommonBodies(props, comparison)
  const [body, otherBody] = bodies ?? []
  const names = (quantity: string) => [`body.${body}.${quantity}`, `body.${otherBody}.${quantity}`] as const
  return (
    <div class="plots">
      <ComparedPlot {...props} title="Energy" names={['energy.total', 'energy.total']} />
      {body != null && (
        <>
          <ComparedPlot {...props} title={`Speed of body ${body}`} names={names('speed')} />
          <DistancePlot {...props} body={body} otherBody={otherBody ?? body} />
        </>
      )}
      {comparison !== undefined && bodies === undefined && (
        <p class="muted">The recordings have no body in common, so that speeds cannot be compared.</p>
      )}
    </div>
  )
}

/** Returns the ids of the first body that differs, otherwise of the first body in both recordings. */
function findCommonBodies(
  { a, b }: Pick<ComparedPlotsProps, 'a' | 'b'>,
  { divergences, renamed_bodies, only_a }: Comparison,
): readonly [number, number] | undefined {
  const isCommon = (id: number | null): id is number =>
    id !== null && !only_a.includes(id) && a.bodies.some(({ body_id }) => body_id === id)
  const body = [...divergences, ...a.bodies].map(({ body_id }) => body_id).find(isCommon)
  if (body === undefined || b.bodies.length === 0) return undefined
  return [body, renamed_bodies.find((renamedBody) => renamedBody.a === body)?.b ?? body]
}

type PlotProps = Omit<ComparedPlotsProps, 'comparison'>

function ComparedPlot({
  a,
  b,
  playback,
  title,
  names,
}: PlotProps & { title: string; names: readonly [string, string] }) {
  const read = useReadSeries()
  const loaded = useLoaded(
    async (signal) => (await Promise.all([read(a, [names[0]], signal), read(b, [names[1]], signal)])).flat(),
    [a.recording, b.recording, ...names],
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

function DistancePlot({ a, b, playback, body, otherBody }: PlotProps & { body: number; otherBody: number }) {
  const read = useReadSeries()
  const title = `Distance between both bodies ${body}`
  const toNames = (id: number) => ['x', 'y', 'z'].map((axis) => `body.${id}.position.${axis}`)
  const loaded = useLoaded(
    async (signal) => {
      const [from, to] = await Promise.all([
        read(a, toNames(body), signal),
        read(b, toNames(otherBody), signal),
      ])
      return toDistances(title, from, to)
    },
    [a.recording, b.recording, body, otherBody],
  )
  return (
    <figure class="plot">
      <figcaption class="row">
        <strong>{title}</strong>
        <span class="legend series1">
          right from left <span class="muted">m</span>
        </span>
      </figcaption>
      <LoadedView loaded={loaded}>
        {(series) =>
          series.frames.length === 0 ? (
            <p class="muted">The recordings have no frame id in common.</p>
          ) : (
            <LinePlot
              {...{ playback, title }}
              series={[series]}
              first={playback.first}
              last={playback.lastFrame.value}
            />
          )
        }
      </LoadedView>
    </figure>
  )
}

function useReadSeries() {
  const { server } = useConsole()
  return async ({ recording }: Metadata, series: readonly string[], signal: AbortSignal) =>
    (
      await server.call<{ series: readonly Series[] }>(
        'replay',
        'get_series',
        { recording, series, max_points: 2000 },
        { signal },
      )
    ).series
}
