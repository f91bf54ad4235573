import { useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Contact, Diagnosis, Finding, FrameResult, Metadata, Scene } from '../../data/replay.ts'
import { type SceneBody, toSceneBodies } from '../../domain/bodies.ts'
import { formatHash, parseFrameLink, parseHash } from '../../domain/link.ts'
import { useConsole } from '../../ui/console.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Empty, ErrorNotice, LoadedView, useLoaded } from '../../ui/state.tsx'
import { Bookmarks } from './bookmarks.tsx'
import { DrawnFrame } from './drawn-frame.tsx'
import { FindingList } from './finding-list.tsx'
import { FollowControl, type Following, listCallMarks, useFollow } from './follow.tsx'
import { Inspector } from './inspector.tsx'
import { createPlayback, type Playback, rates } from './playback.ts'
import { Plots } from './plots.tsx'
import './replay.css'
import {
  type CameraMoves,
  LayerButtons,
  type Layers,
  type SceneView,
  StageView,
  sceneViews,
  usePoses,
} from './stage-view.tsx'
import { TailChip, useTail } from './tail.tsx'
import { Timeline } from './timeline.tsx'
import { useVelocities } from './velocities.ts'
import { useViewerShortcuts } from './viewer-keys.ts'

export function Viewer({ parts: { recording = '' } }: { parts: PathParts }) {
  const { server } = useConsole()
  // Not in `LoadedView`, so that no call is missed while another recording is loading.
  const following = useFollow()
  const metadata = useLoaded(
    (signal) => server.call<Metadata>('replay', 'get_metadata', { recording }, { signal }),
    [recording, server.needsToken.value],
  )
  return (
    <div class="page wide viewer-page">
      <div class="row spread">
        <h1 class="clip">{recording}</h1>
        <span class="row">
          <CopyButton label="Copy link" text={() => location.href} />
          <a href="/replay">All recordings</a>
        </span>
      </div>
      <LoadedView loaded={metadata}>
        {(value) =>
          value.first_frame === null || value.last_frame === null ? (
            <EmptyRecording metadata={value} reload={metadata.reload} />
          ) : (
            <RecordingView
              key={recording}
              metadata={value}
              first={value.first_frame}
              last={value.last_frame}
              following={following}
            />
          )
        }
      </LoadedView>
    </div>
  )
}

const emptyPollMs = 1000

/** A recording without frames, whose recorder may still add some. */
function EmptyRecording({ metadata, reload }: { metadata: Metadata; reload: () => void }) {
  const { server } = useConsole()
  const { recording, summary } = metadata
  const { value = metadata } = useLoaded(
    (signal) => server.call<Metadata>('replay', 'get_metadata', { recording }, { signal }),
    [recording],
    { intervalMs: emptyPollMs },
  )
  useEffect(() => {
    if (value.last_frame !== null) reload()
  }, [value])
  return (
    <Empty title="This recording has no frames">
      <p>{summary}</p>
      <p>The page shows the first frames when they are recorded.</p>
    </Empty>
  )
}

const noContacts: readonly Contact[] = []

const firstLayers: Layers = { contacts: true, forces: true, velocities: false, trails: false }

interface RecordingProps {
  readonly metadata: Metadata
  readonly first: number
  readonly last: number
  readonly following: Following
}

function RecordingView({ metadata, first, last, following }: RecordingProps) {
  const { navigation } = useConsole()
  const { recording } = metadata
  const link = useMemo(() => parseHash(navigation.hash.value.text), [recording])
  const playback = useMemo(
    () => createPlayback(metadata, { first, last, start: Number(link.get('frame')) }),
    [recording],
  )
  const poses = usePoses(recording, first)
  const camera = useRef<CameraMoves>(undefined)
  const [layers, setLayers] = useLayers()
  const [view, setView] = useState(0)
  const [isPlaying, setPlaying] = useState(false)
  const [restingFrame, setRestingFrame] = useState(playback.restingFrame.value)
  useSignalEffect(() => setPlaying(playback.isPlaying.value))
  useSignalEffect(() => setRestingFrame(playback.restingFrame.value))
  useEffect(() => () => playback.close(), [playback])

  const tail = useTail({ playback, poses, recording, isAtEnd: !link.has('frame') })
  const { scene, frame, diagnosis, bodies, isReady } = useRecording(metadata, restingFrame, tail.version)
  const velocities = useVelocities(metadata, playback, layers.velocities === true && !isPlaying)
  const findings = diagnosis.value?.findings ?? []
  const { pair, setPair, selected, setSelected, finding, open } = useSelection(
    playback,
    recording,
    restingFrame,
  )
  const latest = useRef({ findings, finding, open, bodies })
  latest.current = { findings, finding, open, bodies }
  const showNextView = (): void => setView((oldValue) => (oldValue + 1) % sceneViews.length)
  const keyError = useViewerShortcuts({
    ...{ playback, recording, latest, setLayers, setSelected, camera, showNextView },
    beforeMove: following.pause,
  })

  return (
    <div class="viewer">
      <section class="viewer-main" aria-label="Scene and time">
        <ViewerBar {...{ layers, setLayers, bodies, showNextView }} view={sceneViews[view] ?? 'free'}>
          <TailChip tail={tail} playback={playback} />
          <FollowControl following={following} />
          <MissingFrame playback={playback} />
        </ViewerBar>
        {keyError !== undefined && <ErrorNotice error={keyError} />}
        <StageView
          {...{ playback, poses, bodies, selected, layers, pair, setSelected, isReady, camera }}
          view={sceneViews[view] ?? 'free'}
          contacts={isPlaying || scene.value?.frame_id !== restingFrame ? noContacts : scene.value.contacts}
          velocities={velocities}
          grounds={scene.value?.grounds ?? []}
        >
          <DrawnFrame recording={recording} frame={restingFrame} />
        </StageView>
        <Timeline
          {...{ playback, findings, open }}
          chosenFinding={finding}
          calls={listCallMarks(following, recording)}
          isPlaying={isPlaying}
          metadata={metadata}
          rates={rates}
        />
        <Plots {...{ playback, recording, bodies, selected }} version={tail.version} />
      </section>
      <aside class="viewer-side stack" aria-label="Findings and values">
        <LoadedView loaded={diagnosis}>
          {(value) => <FindingList diagnosis={value} chosenFinding={finding} open={open} />}
        </LoadedView>
        <Inspector {...{ bodies, selected, setSelected, pair, setPair }} frame={frame} scene={scene.value} />
        <Bookmarks {...{ playback, recording }} />
      </aside>
    </div>
  )
}

/** The address contains the layers unless they are the default. */
function useLayers() {
  const { navigation } = useConsole()
  const [layers, setLayers] = useState<Layers>(() => {
    const shown = parseHash(location.hash).get('layers')?.split(',')
    if (shown === undefined) return firstLayers
    return Object.fromEntries(Object.keys(firstLayers).map((name) => [name, shown.includes(name)]))
  })
  const text = formatLayers(layers)
  useEffect(() => {
    const entries = { layers: text === formatLayers(firstLayers) ? undefined : text }
    navigation.replaceHash(formatHash(location.hash, entries))
  }, [text])
  return [layers, setLayers] as const
}

const formatLayers = (layers: Layers): string =>
  Object.entries(layers)
    .flatMap(([name, isShown]) => (isShown ? [name] : []))
    .join(',')

/** The address contains the selection, so that links, Back and Forward restore it. */
function useSelection(playback: Playback, recording: string, restingFrame: number) {
  const { navigation } = useConsole()
  const frameLink = useMemo(() => parseFrameLink(navigation.hash.value.text), [recording])
  const chosenFinding = useMemo(() => parseHash(navigation.hash.value.text).get('finding'), [recording])
  const [pair, setPair] = useState(frameLink.pair)
  const [selected, setSelected] = useState(frameLink.body ?? frameLink.pair?.[0])
  const [finding, setFinding] = useState<string | undefined>(chosenFinding)

  const hash = navigation.hash.peek()
  useEffect(() => {
    // Another address was opened since this render.
    if (navigation.hash.peek() !== hash) return
    navigation.replaceHash(
      formatHash(location.hash, {
        frame: String(playback.frame.peek()),
        body: selected === undefined ? undefined : String(selected),
        pair: pair?.join('-'),
        finding,
      }),
    )
  }, [restingFrame, selected, pair, finding])
  // Follows links to other places of the recording, Back and Forward.
  useEffect(
    () =>
      navigation.hash.subscribe(({ text }) => {
        const { frame, body, pair: shown } = parseFrameLink(text)
        playback.pause()
        if (frame !== undefined) playback.seek(frame)
        setPair(shown)
        setSelected(body ?? shown?.[0])
        setFinding(parseHash(text).get('finding'))
      }),
    [],
  )

  const open = (selectedFinding: Finding): void => {
    playback.pause()
    playback.seek(selectedFinding.frames.peak)
    setFinding(selectedFinding.id)
    if (selectedFinding.bodies[0] !== undefined) setSelected(selectedFinding.bodies[0])
    setPair(
      selectedFinding.bodies.length === 2
        ? [selectedFinding.bodies[0] as number, selectedFinding.bodies[1] as number]
        : undefined,
    )
  }
  return { pair, setPair, selected, setSelected, finding, open }
}

function useRecording(metadata: Metadata, restingFrame: number, version: number) {
  const { server } = useConsole()
  const { recording } = metadata
  const scene = useLoaded(
    (signal) =>
      server.get<Scene>(
        `/api/apps/replay/recordings/${encodeURIComponent(recording)}/scene?frame=${restingFrame}`,
        { signal },
      ),
    [recording],
    { version: restingFrame },
  )
  const frame = useLoaded(
    (signal) =>
      server.call<FrameResult>('replay', 'get_frame', { recording, frame_id: restingFrame }, { signal }),
    [recording],
    { version: restingFrame },
  )
  const diagnosis = useLoaded(
    (signal) => server.call<Diagnosis>('replay', 'diagnose', { recording, max_findings: 200 }, { signal }),
    [recording],
    { version },
  )
  const shapes = useLastDefined(scene.value?.shapes)
  const bodies = useMemo(() => toSceneBodies(metadata, shapes ?? {}), [metadata, shapes !== undefined])
  return { scene, frame, diagnosis, bodies, isReady: shapes !== undefined || scene.error !== undefined }
}

function MissingFrame({ playback: { first, lastFrame } }: { playback: Playback }) {
  const { frame } = parseFrameLink(useConsole().navigation.hash.value.text)
  if (frame === undefined || (frame >= first && frame <= lastFrame.value)) return null
  return (
    <span role="status">
      ▲ Frame {frame} does not exist: the recording has the frames {first} to {lastFrame.value}.
    </span>
  )
}

interface ViewerBarProps {
  readonly layers: Layers
  readonly setLayers: (change: (oldValue: Layers) => Layers) => void
  readonly bodies: readonly SceneBody[]
  readonly view: SceneView
  readonly showNextView: () => void
  readonly children: ComponentChildren
}

function ViewerBar({ layers, setLayers, bodies, view, showNextView, children }: ViewerBarProps) {
  return (
    <div class="row viewer-bar">
      <LayerButtons {...{ layers, setLayers }} />
      <button type="button" class="button" onClick={showNextView}>
        View: {view}
      </button>
      {children}
      <ShapeNote bodies={bodies} />
    </div>
  )
}

function useLastDefined<T>(value: T | undefined): T | undefined {
  const lastValue = useRef(value)
  if (value !== undefined) lastValue.current = value
  return lastValue.current
}

function ShapeNote({ bodies }: { bodies: readonly SceneBody[] }) {
  const estimated = bodies.filter(({ source }) => source === 'estimated').length
  const unknownCount = bodies.filter(({ source }) => source === 'unknown').length
  const notes = [
    ...(estimated > 0 ? [`${formatShapes(estimated)} estimated from contacts`] : []),
    ...(unknownCount > 0 ? [`${formatShapes(unknownCount)} unknown, drawn as boxes`] : []),
  ]
  return notes.length === 0 ? null : <span class="muted">{notes.join(' · ')}</span>
}

const formatShapes = (count: number): string => (count === 1 ? '1 shape' : `${count} shapes`)
