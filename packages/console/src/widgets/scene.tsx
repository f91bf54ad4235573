import { useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { PoseCache } from '../data/poses.ts'
import type { Metadata, Scene } from '../data/replay.ts'
import { toSceneBodies } from '../domain/bodies.ts'
import { LoadedView, useLoaded } from '../ui/state.tsx'
import '../views/replay/replay.css'
import { Playback, rates } from '../views/replay/playback.ts'
import { StageView } from '../views/replay/stage-view.tsx'
import { Timeline } from '../views/replay/timeline.tsx'
import { openWidget, toFrameUrl, WidgetActions, type WidgetProps } from './widget.tsx'

const layers = { contacts: true, forces: true }

/** Number of frames that can be played before and after the shown frame. */
const maxDistance = 100

function SceneWidget({ app, args, data }: WidgetProps) {
  const recording = String(data.recording ?? args.recording ?? '')
  const start = Number(data.frame_id ?? args.frame_id ?? 1)
  const loaded = useLoaded(async () => {
    const [metadata, scene] = await Promise.all([
      app.call<Metadata>('replay', 'get_metadata', { recording }),
      readScene({ app, recording }, start),
    ])
    return { metadata, scene }
  }, [data])
  return (
    <LoadedView loaded={loaded}>
      {({ metadata, scene }) => (
        <SceneView key={start} {...{ app, args, data, recording, metadata, scene, start }} />
      )}
    </LoadedView>
  )
}

interface Target {
  readonly app: WidgetProps['app']
  readonly recording: string
}

const toUri = (recording: string): string => `replay://recordings/${encodeURIComponent(recording)}`

const readScene = ({ app, recording }: Target, frame: number): Promise<Scene> =>
  app.read<Scene>('replay', `${toUri(recording)}/scene/${frame}`)

interface SceneProps extends WidgetProps {
  readonly recording: string
  readonly metadata: Metadata
  readonly scene: Scene
  readonly start: number
}

function SceneView({ app, args, data, recording, metadata, scene: openedScene, start }: SceneProps) {
  const first = Math.max(metadata.first_frame ?? start, start - maxDistance)
  const last = Math.min(metadata.last_frame ?? start, start + maxDistance)
  const playback = useMemo(() => {
    const newPlayback = new Playback({ first, last, stepSeconds: metadata.dt_s ?? 1 / 60 })
    newPlayback.seek(start)
    newPlayback.restingFrame.value = start
    return newPlayback
  }, [])
  const poses = useMemo(
    () =>
      new PoseCache(
        (from, to) => app.readBytes(`${toUri(recording)}/poses/${from}/${Math.min(to, last)}`),
        first,
      ),
    [],
  )
  const bodies = useMemo(() => toSceneBodies(metadata, openedScene.shapes), [])
  const [selected, setSelected] = useState(typeof args.body_id === 'number' ? args.body_id : undefined)
  const [isPlaying, setPlaying] = useState(false)
  const [frame, setFrame] = useState(start)
  useSignalEffect(() => setPlaying(playback.isPlaying.value))
  useSignalEffect(() => setFrame(playback.restingFrame.value))
  useEffect(() => () => playback.close(), [playback])
  useEffect(() => app.setModelContext({ recording, frame, body: selected }), [frame, selected])
  const scene = useLoaded(
    async () => (frame === start ? openedScene : readScene({ app, recording }, frame)),
    [frame],
  )
  return (
    <>
      <p class="widget-head">
        <strong>
          <bdi>{recording}</bdi>
        </strong>{' '}
        frame {frame}
        {selected !== undefined && <bdi>, {bodies.find(({ id }) => id === selected)?.name}</bdi>}
      </p>
      <div class="widget-scene">
        <StageView
          {...{ playback, poses, bodies, selected, setSelected, layers }}
          pair={undefined}
          contacts={isPlaying ? [] : (scene.value?.contacts ?? [])}
          grounds={openedScene.grounds}
          isReady
        >
          <p class="stage-banner">This client has no WebGL. The text of the result describes the frame.</p>
        </StageView>
      </div>
      <Timeline
        {...{ playback, isPlaying, rates }}
        metadata={{ ...metadata, first_frame: first, last_frame: last, ...toTimes(metadata, first, last) }}
        findings={[]}
        chosenFinding={undefined}
        open={() => {}}
      />
      <WidgetActions
        app={app}
        question={`Explain frame ${frame} of the recording ${recording}.`}
        url={toFrameUrl(data, frame)}
      />
    </>
  )
}

/** Returns the times of frames, assuming equal time steps. */
function toTimes(
  { first_time_s: time, first_frame: frame, dt_s: step }: Metadata,
  first: number,
  last: number,
) {
  if (time === null || frame === null || step === null) return { first_time_s: null, last_time_s: null }
  return { first_time_s: time + (first - frame) * step, last_time_s: time + (last - frame) * step }
}

openWidget('scene', SceneWidget)
