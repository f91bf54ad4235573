import { computed } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import type { Contact, Metadata, Scene } from '../../../data/replay.ts'
import { toSceneBodies } from '../../../domain/bodies.ts'
import { useConsole } from '../../../ui/console.ts'
import { ForeignText } from '../../../ui/foreign-text.tsx'
import { useLoaded } from '../../../ui/state.tsx'
import type { Playback } from '../playback.ts'
import {
  type Layers,
  type OtherScene,
  type SceneView,
  type ShownFrame,
  StageView,
  usePoses,
} from '../stage-view.tsx'
import { useVelocities } from '../velocities.ts'
import { SharedCamera } from './shared-camera.ts'

export type Align = 'frame' | 'time'

interface StagesProps {
  readonly a: Metadata
  readonly b: Metadata
  readonly playback: Playback
  readonly align: Align
  readonly isOverlaid: boolean
  readonly layers: Layers
  readonly view: SceneView
}

export function ComparedStages({ a, b, playback, align, isOverlaid, layers, view }: StagesProps) {
  const camera = useMemo(() => new SharedCamera(), [])
  const otherFrame = useMemo(
    () => ({ frame: computed(() => findFrame(playback.frame.value, { a, b, align })) }),
    [align],
  )
  const left = useCompared(a)
  const right = useCompared(b)
  const leftScene = useMemo(
    () => ({ shown: playback, poses: left.poses, bodies: left.bodies }),
    [left.bodies],
  )
  const rightScene = useMemo(
    () => ({ shown: otherFrame, poses: right.poses, bodies: right.bodies }),
    [otherFrame, right.bodies],
  )
  return (
    <div class="compared-stages">
      <ComparedStage
        {...{ camera, layers, view }}
        metadata={a}
        compared={left}
        shown={playback}
        otherScene={rightScene}
        ghosts={isOverlaid ? rightScene : undefined}
      />
      <ComparedStage
        {...{ camera, layers, view }}
        metadata={b}
        compared={right}
        shown={otherFrame}
        otherScene={leftScene}
      />
    </div>
  )
}

function useCompared(metadata: Metadata) {
  const { server } = useConsole()
  const base = `/api/apps/replay/recordings/${encodeURIComponent(metadata.recording)}`
  const first = metadata.first_frame ?? 0
  const scene = useLoaded((signal) => server.get<Scene>(`${base}/scene?frame=${first}`, { signal }), [base])
  const poses = usePoses(metadata.recording, first)
  const shapes = scene.value?.shapes
  const bodies = useMemo(() => toSceneBodies(metadata, shapes ?? {}), [shapes !== undefined])
  return { scene, poses, bodies }
}

/** Returns the frame of b that corresponds to a frame of a, limited to the frames of b. */
function findFrame(frame: number, { a, b, align }: { a: Metadata; b: Metadata; align: Align }): number {
  const [first, last] = [b.first_frame ?? 0, b.last_frame ?? 0]
  const time = toTime(a, frame) - (b.first_time_s ?? 0)
  const span = (b.last_time_s ?? 0) - (b.first_time_s ?? 0)
  const shownFrame =
    align === 'frame' ? frame : span <= 0 ? first : Math.round(first + (time / span) * (last - first))
  return Math.min(last, Math.max(first, shownFrame))
}

function toTime({ first_frame, last_frame, first_time_s, last_time_s }: Metadata, frame: number): number {
  const share = (frame - (first_frame ?? 0)) / Math.max(1, (last_frame ?? 0) - (first_frame ?? 0))
  return (first_time_s ?? 0) + share * ((last_time_s ?? 0) - (first_time_s ?? 0))
}

interface ComparedStageProps {
  readonly metadata: Metadata
  readonly compared: ReturnType<typeof useCompared>
  readonly shown: ShownFrame
  readonly camera: SharedCamera
  readonly layers: Layers
  readonly view: SceneView
  readonly otherScene: OtherScene
  readonly ghosts?: OtherScene | undefined
}

function ComparedStage({ metadata, compared, shown, layers, camera, ...stageProps }: ComparedStageProps) {
  const { scene, poses, bodies } = compared
  const [selected, setSelected] = useState<number>()
  const velocities = useVelocities(metadata, shown, layers.velocities === true)
  return (
    <figure class="stack">
      <figcaption class="clip">
        <ForeignText text={metadata.recording} /> <ShownFrameText shown={shown} />
      </figcaption>
      <StageView
        {...{ poses, bodies, selected, setSelected, layers, velocities }}
        {...stageProps}
        playback={shown}
        pair={undefined}
        contacts={noContacts}
        grounds={scene.value?.grounds ?? []}
        isReady={scene.value !== undefined || scene.error !== undefined}
        sharedCamera={camera}
      >
        <p class="stage-banner">This browser has no WebGL. Plots and the table below show the differences.</p>
      </StageView>
    </figure>
  )
}

const noContacts: readonly Contact[] = []

/** A separate component, so that only this text is rendered again. */
const ShownFrameText = ({ shown }: { shown: ShownFrame }) => (
  <span class="muted">frame {shown.frame.value}</span>
)
