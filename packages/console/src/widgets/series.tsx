import { useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Finding, Series } from '../data/replay.ts'
import { formatNumber } from '../domain/text.ts'
import { LinePlot, maxSeries } from '../ui/charts/line-plot.tsx'
import { LoadedView, useLoaded } from '../ui/state.tsx'
import { FindingList } from '../views/replay/finding-list.tsx'
import { Playback } from '../views/replay/playback.ts'
import { openWidget, toFrameUrl, WidgetActions, type WidgetProps } from './widget.tsx'
import { findValue, readSeries } from './widget-series.ts'

function SeriesWidget({ app, args, data }: WidgetProps) {
  const recording = String(data.recording ?? args.recording ?? '')
  const loaded = useLoaded(async () => {
    const readResult = readSeries(data)
    if (readResult !== undefined) return readResult
    const name = typeof args.path_of === 'number' ? `body.${args.path_of}.speed` : 'energy.total'
    const answer = await app.call<{ series: readonly Series[] }>('replay', 'get_series', {
      recording,
      series: [name],
    })
    return answer.series
  }, [data])
  return (
    <LoadedView loaded={loaded}>
      {(series) => <Plot app={app} data={data} recording={recording} series={series.slice(0, maxSeries)} />}
    </LoadedView>
  )
}

function Plot({
  app,
  data,
  recording,
  series,
}: Pick<WidgetProps, 'app' | 'data'> & { recording: string; series: readonly Series[] }) {
  const findings = Array.isArray(data.findings) ? (data.findings as readonly Finding[]) : []
  const frames = series.flatMap((item) => item.frames)
  const [first, last] = [Math.min(...frames), Math.max(...frames)]
  const playback = useMemo(() => new Playback({ first, last, stepSeconds: 1 }), [data])
  const [frame, setFrame] = useState(first)
  const [chosenName, setChosenName] = useState<string>()
  useSignalEffect(() => setFrame(playback.restingFrame.value))
  useEffect(() => () => playback.close(), [playback])
  useEffect(() => app.setModelContext({ recording, frame }), [recording, frame])
  const open = ({ id, frames: { peak } }: Finding): void => {
    setChosenName(id)
    playback.seek(peak)
  }
  if (frames.length === 0) return <p class="muted">The result contains no values.</p>
  return (
    <>
      <p class="widget-head">
        <strong>
          <bdi>{recording}</bdi>
        </strong>{' '}
        frame {frame}
      </p>
      <ul class="chips" aria-label="Values at the frame">
        {series.map((item, index) => (
          <li key={item.name} class={`legend series${index + 1}`}>
            <bdi>{item.name}</bdi> {formatNumber(findValue(item, frame) ?? Number.NaN)}{' '}
            <span class="muted">{item.unit}</span>
          </li>
        ))}
      </ul>
      <figure class="plot">
        <LinePlot {...{ playback, series, first, last }} title={series.map(({ name }) => name).join(', ')} />
      </figure>
      <input
        type="range"
        class="scrubber"
        aria-label="Frame"
        min={first}
        max={last}
        value={frame}
        onInput={({ currentTarget }) => playback.seek(Number(currentTarget.value))}
      />
      {Array.isArray(data.findings) && (
        <FindingList
          diagnosis={{
            findings,
            count: Number(data.count ?? findings.length),
            frames_checked: Number(data.frames_checked ?? 0),
            summary: '',
          }}
          chosenFinding={chosenName}
          open={open}
        />
      )}
      <WidgetActions
        app={app}
        question={`Explain frame ${frame} of the recording ${recording}.`}
        url={toFrameUrl(data, frame)}
      />
    </>
  )
}

openWidget('series', SeriesWidget)
