import { useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Comparison, Finding, Metadata } from '../../../data/replay.ts'
import { formatHash, parseHash } from '../../../domain/link.ts'
import { useConsole, useShortcuts } from '../../../ui/console.ts'
import { ForeignText } from '../../../ui/foreign-text.tsx'
import type { PathParts } from '../../../ui/lazy-view.tsx'
import { Empty, LoadedView, useLoaded } from '../../../ui/state.tsx'
import { createPlayback, type Playback, rates } from '../playback.ts'
import '../replay.css'
import { LayerButtons, type Layers, sceneViews } from '../stage-view.tsx'
import { Timeline } from '../timeline.tsx'
import { listLayerKeys, listTimeKeys } from '../viewer-keys.ts'
import { ComparedPlots } from './compared-plots.tsx'
import { type Align, ComparedStages } from './compared-stages.tsx'
import { DivergenceTable } from './divergence-table.tsx'

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
        {(leftMetadata) => (
          <LoadedView loaded={right}>
            {(rightMetadata) => {
              const emptyRecording = [leftMetadata, rightMetadata].find(
                ({ first_frame }) => first_frame === null,
              )
              return emptyRecording === undefined ? (
                <ComparedRecordings key={`${a} ${b}`} a={leftMetadata} b={rightMetadata} />
              ) : (
                <Empty title={`${emptyRecording.recording.slice(0, 100)} has no frames`}>
                  <p>Compare recordings that have frames.</p>
                </Empty>
              )
            }}
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
  const [layers, setLayers] = useState<Layers>({ velocities: false, trails: false })
  const [view, setView] = useState(0)
  const showNextView = (): void => setView((oldView) => (oldView + 1) % sceneViews.length)
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
  useAddress(playback, align)
  const showFirstDifference = (): void => {
    const frame = comparison.value?.first_frame
    if (frame === undefined || frame === null) return
    playback.pause()
    playback.seek(frame)
  }
  useShortcuts(() => [
    ...listTimeKeys(playback),
    { keys: 'x', label: 'View from the top, front, side, or free', run: showNextView },
    ...listLayerKeys(
      [
        ['v', 'velocities', 'Velocities'],
        ['t', 'trails', 'Trails'],
      ],
      setLayers,
    ),
  ])
  const findings = comparison.value === undefined ? [] : listMarks(comparison.value, playback.last)
  return (
    <>
      <ComparisonBar
        {...{ align, setAlign, isOverlaid, setOverlaid }}
        showFirstDifference={
          comparison.value === undefined || comparison.value.first_frame === null
            ? undefined
            : showFirstDifference
        }
      >
        <LayerButtons {...{ layers, setLayers }} />
        <button type="button" class="button" onClick={showNextView}>
          View: {sceneViews[view]}
        </button>
      </ComparisonBar>
      <LoadedView loaded={comparison}>
        {({ summary }) => (
          <p role="status" class="wrap">
            {summary}
          </p>
        )}
      </LoadedView>
      <ComparedStages {...{ a, b, playback, align, isOverlaid, layers }} view={sceneViews[view] ?? 'free'} />
      <ComparedTimeline {...{ playback, findings, open: showFirstDifference }} metadata={a} />
      {align === 'frame' && <ComparedPlots {...{ a, b, playback }} comparison={comparison.value} />}
      {comparison.value !== undefined && (
        <DivergenceTable comparison={comparison.value} show={(frame) => playback.seek(frame)} />
      )}
    </>
  )
}

function useAddress(playback: Playback, align: Align): void {
  const { navigation } = useConsole()
  const [restingFrame, setRestingFrame] = useState(playback.restingFrame.peek())
  useSignalEffect(() => setRestingFrame(playback.restingFrame.value))
  useEffect(() => {
    const entries = { frame: String(restingFrame), align: align === 'time' ? align : undefined }
    navigation.replaceHash(formatHash(location.hash, entries))
  }, [restingFrame, align])
}

interface BarProps {
  readonly align: Align
  readonly setAlign: (align: Align) => void
  readonly isOverlaid: boolean
  readonly setOverlaid: (isOverlaid: boolean) => void
  readonly showFirstDifference: (() => void) | undefined
  readonly children: ComponentChildren
}

function ComparisonBar({
  align,
  setAlign,
  isOverlaid,
  setOverlaid,
  showFirstDifference,
  children,
}: BarProps) {
  return (
    <div class="row">
      <fieldset class="row" aria-label="Frames with the same">
        {(['frame', 'time'] as const).map((alignment) => (
          <button
            key={alignment}
            type="button"
            class="button"
            aria-pressed={align === alignment}
            onClick={() => setAlign(alignment)}
          >
            Same {alignment === 'frame' ? 'frame id' : 'time'}
          </button>
        ))}
      </fieldset>
      <button type="button" class="button" aria-pressed={isOverlaid} onClick={() => setOverlaid(!isOverlaid)}>
        Overlay the right scene
      </button>
      {children}
      {showFirstDifference !== undefined && (
        <button type="button" class="button primary" onClick={showFirstDifference}>
          First difference
        </button>
      )}
    </div>
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
      chosenFinding={undefined}
      laneName="differences"
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
          severity: 'warning',
          frames: { first: first_frame, last, peak: first_frame },
          bodies: divergences.slice(0, 1).flatMap(({ body_id }) => body_id ?? []),
          sentence: 'The recordings differ',
        },
      ]
