import { computed, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { PoseCache } from '../../../data/poses.ts'
import type { Comparison, Finding, Metadata, Scene } from '../../../data/replay.ts'
import { toSceneBodies } from '../../../domain/bodies.ts'
import { formatHash, parseHash } from '../../../domain/link.ts'
import { useConsole, useShortcuts } from '../../../ui/console.ts'
import { ForeignText } from '../../../ui/foreign-text.tsx'
import type { PathParts } from '../../../ui/lazy-view.tsx'
import { LoadedView, useLoaded } from '../../../ui/state.tsx'
import { createPlayback, type Playback, rates } from '../playback.ts'
import { ComparedPlots } from './compared-plots.tsx'
import { DivergenceTable } from './divergence-table.tsx'
import '../replay.css'
import { type Ghosts, type ShownFrame, StageView } from '../stage-view.tsx'
import { Timeline } from '../timeline.tsx'
import { listTimeKeys } from '../viewer-keys.ts'
import { SharedCamera } from './shared-camera.ts'

type Align = 'frame' | 'time'

export function ComparisonPage({ parts: { recording: a = '', other: b = '' } }: { parts: PathParts }) {
  const { server } = useConsole()
  const read = (recording: string) => (signal: AbortSignal) =>
    server.call<Metadata>('replay', 'get_metadata', { recording }, { signal })
  const left = useLoaded(read(a), [a, server.needsToken.value])
  const right = useLoaded(read(b), [b, server.needsToken.value])
  return (
    <div class="page wide viewer-page">
      <div class="row spread">
        <h1 class="clip">
          Comparison of <ForeignText text={a} max={60} /> with <ForeignText text={b} max={60} />
        </h1>
        <a href="/replay">All recordings</a>
      </div>
      <LoadedView loaded={left}>
        {(one) => (
          <LoadedView loaded={right}>
            {(other) => <ComparedRecordings key={`${a} ${b}`} a={one} b={other} />}
          </LoadedView>
        )}
      </LoadedView>
    </div>
  )
}

function ComparedRecordings({ a, b }: { a: Metadata; b: Metadata }) {
  const { server, navigation } = useConsole()
  const link = useMemo(() => parseHash(navigation.hash.value.text), [])
  const [align, setAlign] = useState<Align>(link.get('align') === 'time' ? 'time' : 'frame')
  const [isOverlaid, setOverlaid] = useState(false)
  const comparison = useLoaded(
    (signal) =>
      server.call<Comparison>(
        'replay',
        'compare_recordings',
        { a: a.recording, b: b.recording, align },
        { signal },
      ),
    [a.recording, b.recording, align],
  )
  const playback = useMemo(
    () =>
      createPlayback(a, {
        first: a.first_frame ?? 0,
        last: a.last_frame ?? 0,
        start: Number(link.get('frame')),
      }),
    [],
  )
  useEffect(() => () => playback.close(), [])
  const [resting, setResting] = useState(playback.restingFrame.peek())
  useSignalEffect(() => setResting(playback.restingFrame.value))
  useEffect(() => {
    const entries = { frame: String(resting), align: align === 'time' ? align : undefined }
    navigation.replaceHash(formatHash(location.hash, entries))
  }, [resting, align])
  const toFirst = (): void => {
    const frame = comparison.value?.first_frame
    if (frame === undefined || frame === null) return
    playback.pause()
    playback.seek(frame)
  }
  useShortcuts(() => listTimeKeys(playback))
  const findings = comparison.value === undefined ? [] : listMarks(comparison.value, playback.last)
  return (
    <>
      <ComparisonBar
        {...{ align, setAlign, isOverlaid, setOverlaid }}
        toFirst={
          comparison.value === undefined || comparison.value.first_frame === null ? undefined : toFirst
        }
      />
      <LoadedView loaded={comparison}>
        {({ summary }) => (
          <p role="status" class="wrap">
            {summary}
          </p>
        )}
      </LoadedView>
      <Stages {...{ a, b, playback, align, isOverlaid }} />
      <ComparedTimeline {...{ playback, findings, open: toFirst }} metadata={a} />
      {align === 'frame' && <ComparedPlots {...{ a, b, playback }} comparison={comparison.value} />}
      {comparison.value !== undefined && (
        <DivergenceTable comparison={comparison.value} show={(frame) => playback.seek(frame)} />
      )}
    </>
  )
}

interface BarProps {
  readonly align: Align
  readonly setAlign: (align: Align) => void
  readonly isOverlaid: boolean
  readonly setOverlaid: (isOverlaid: boolean) => void
  readonly toFirst: (() => void) | undefined
}

function ComparisonBar({ align, setAlign, isOverlaid, setOverlaid, toFirst }: BarProps) {
  return (
    <div class="row">
      <fieldset class="row" aria-label="Frames with the same">
        {(['frame', 'time'] as const).map((one) => (
          <button
            key={one}
            type="button"
            class="button"
            aria-pressed={align === one}
            onClick={() => setAlign(one)}
          >
            Same {one === 'frame' ? 'frame id' : 'time'}
          </button>
        ))}
      </fieldset>
      <button type="button" class="button" aria-pressed={isOverlaid} onClick={() => setOverlaid(!isOverlaid)}>
        Overlay the right scene
      </button>
      {toFirst !== undefined && (
        <button type="button" class="button primary" onClick={toFirst}>
          First difference
        </button>
      )}
    </div>
  )
}

interface StagesProps {
  readonly a: Metadata
  readonly b: Metadata
  readonly playback: Playback
  readonly align: Align
  readonly isOverlaid: boolean
}

function Stages({ a, b, playback, align, isOverlaid }: StagesProps) {
  const camera = useMemo(() => new SharedCamera(), [])
  const other = useMemo(
    () => ({ frame: computed(() => findFrame(playback.frame.value, { a, b, align })) }),
    [align],
  )
  const left = useCompared(a)
  const right = useCompared(b)
  const ghosts = useMemo(
    () => (isOverlaid ? { shown: other, poses: right.poses, bodies: right.bodies } : undefined),
    [isOverlaid, other, right.bodies],
  )
  return (
    <div class="compared-stages">
      <ComparedStage metadata={a} compared={left} shown={playback} camera={camera} ghosts={ghosts} />
      <ComparedStage metadata={b} compared={right} shown={other} camera={camera} />
    </div>
  )
}

function useCompared(metadata: Metadata) {
  const { server } = useConsole()
  const base = `/api/apps/replay/recordings/${encodeURIComponent(metadata.recording)}`
  const first = metadata.first_frame ?? 0
  const scene = useLoaded((signal) => server.get<Scene>(`${base}/scene?frame=${first}`, { signal }), [base])
  const poses = useMemo(
    () => new PoseCache((from, to) => server.getBytes(`${base}/poses?from=${from}&to=${to}`), first),
    [base],
  )
  const shapes = scene.value?.shapes
  const bodies = useMemo(() => toSceneBodies(metadata, shapes ?? {}), [shapes !== undefined])
  return { scene, poses, bodies }
}

/** Returns the frame of b that belongs to a frame of a. */
function findFrame(frame: number, { a, b, align }: { a: Metadata; b: Metadata; align: Align }): number {
  if (align === 'frame') return frame
  const time = toTime(a, frame)
  const [first, last] = [b.first_frame ?? 0, b.last_frame ?? 0]
  const span = (b.last_time_s ?? 0) - (b.first_time_s ?? 0)
  return span <= 0 ? first : Math.round(first + ((time - (b.first_time_s ?? 0)) / span) * (last - first))
}

function toTime({ first_frame, last_frame, first_time_s, last_time_s }: Metadata, frame: number): number {
  const share = (frame - (first_frame ?? 0)) / Math.max(1, (last_frame ?? 0) - (first_frame ?? 0))
  return (first_time_s ?? 0) + share * ((last_time_s ?? 0) - (first_time_s ?? 0))
}

function ComparedStage({
  metadata,
  compared: { scene, poses, bodies },
  shown,
  camera,
  ghosts,
}: {
  metadata: Metadata
  compared: ReturnType<typeof useCompared>
  shown: ShownFrame
  camera: SharedCamera
  ghosts?: Ghosts | undefined
}) {
  const [selected, setSelected] = useState<number>()
  return (
    <figure class="stack">
      <figcaption class="clip">
        <ForeignText text={metadata.recording} />
      </figcaption>
      <StageView
        {...{ poses, bodies, selected, setSelected, ghosts }}
        playback={shown}
        layers={{ contacts: false, forces: false }}
        pair={undefined}
        contacts={[]}
        grounds={scene.value?.grounds ?? []}
        isReady={scene.value !== undefined || scene.error !== undefined}
        sharedCamera={camera}
      >
        <p class="stage-banner">This browser has no WebGL. Plots and the table below show the differences.</p>
      </StageView>
    </figure>
  )
}

function ComparedTimeline({
  playback,
  findings,
  open,
  metadata,
}: {
  playback: Playback
  findings: readonly Finding[]
  open: () => void
  metadata: Metadata
}) {
  return (
    <Timeline
      {...{ playback, findings, open, metadata, rates }}
      chosen={undefined}
      isPlaying={playback.isPlaying.value}
    />
  )
}

const listMarks = ({ first_frame, divergences }: Comparison, last: number): readonly Finding[] =>
  first_frame === null
    ? []
    : [
        {
          id: 'first',
          kind: 'difference',
          severity: 'warning',
          frames: { first: first_frame, last, peak: first_frame },
          bodies: divergences.slice(0, 1).flatMap(({ body_id }) => body_id ?? []),
          sentence: 'The recordings differ',
        },
      ]
