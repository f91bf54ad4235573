import { type ReadonlySignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { getPosition, isDisplaced, isDrawable, PoseCache, type PoseRow } from '../../data/poses.ts'
import type { Contact, Scene } from '../../data/replay.ts'
import { retryUnavailable } from '../../data/server.ts'
import { getRadius, type SceneBody, type Velocities } from '../../domain/bodies.ts'
import { fitPoints, joinBounds, type Point3 } from '../../domain/fit.ts'
import { formatNumber } from '../../domain/text.ts'
import { readColors, useThemeVersion } from '../../ui/canvas-colors.ts'
import { useConsole } from '../../ui/console.ts'
import type { SharedCamera } from './comparison/shared-camera.ts'
import { maxContacts, type ShownMarks } from './contact-marks.ts'
import { maxTrailFrames } from './motion-marks.ts'
import { Stage } from './stage.ts'

/** Directions from the scene to the camera. */
const views = {
  free: [0.55, -0.75, 0.38],
  // Not exactly vertical, because the camera would have no upward direction.
  top: [0, -0.001, 1],
  front: [0, -1, 0],
  side: [1, 0, 0],
} as const

export type SceneView = keyof typeof views

export const sceneViews = Object.keys(views) as readonly SceneView[]

export interface ShownFrame {
  readonly frame: ReadonlySignal<number>
}

/** A scene that is drawn over another, or shown with the same camera. */
export interface OtherScene {
  readonly shown: ShownFrame
  readonly poses: PoseCache
  readonly bodies: readonly SceneBody[]
}

export interface Layers extends Omit<ShownMarks, 'pair'> {
  readonly velocities?: boolean
  readonly trails?: boolean
}

const layerLabels = {
  contacts: 'Contacts',
  forces: 'Forces',
  velocities: 'Velocities',
  trails: 'Trails',
} as const satisfies Record<keyof Layers, string>

interface LayerButtonsProps {
  readonly layers: Layers
  readonly setLayers: (change: (oldLayers: Layers) => Layers) => void
}

export const LayerButtons = ({ layers, setLayers }: LayerButtonsProps) =>
  (Object.keys(layers) as (keyof Layers)[]).map((layer) => (
    <button
      key={layer}
      type="button"
      class="button"
      aria-pressed={layers[layer]}
      onClick={() => setLayers((oldLayers) => ({ ...oldLayers, [layer]: !oldLayers[layer] }))}
    >
      {layerLabels[layer]}
    </button>
  ))

interface StageProps {
  readonly playback: ShownFrame
  readonly poses: PoseCache
  readonly bodies: readonly SceneBody[]
  readonly selected: number | undefined
  readonly setSelected: (body: number | undefined) => void
  readonly layers: Layers
  readonly view?: SceneView
  readonly pair: readonly [number, number] | undefined
  readonly contacts: readonly Contact[]
  /** Velocities in the shown frame. */
  readonly velocities?: Velocities | undefined
  readonly grounds: Scene['grounds']
  readonly isReady: boolean
  readonly camera?: { current: CameraMoves | undefined }
  readonly sharedCamera?: SharedCamera
  readonly ghosts?: OtherScene | undefined
  /** A scene that is shown with the same camera. */
  readonly otherScene?: OtherScene
  /** Shown instead of the scene if the browser has no WebGL. */
  readonly children: ComponentChildren
}

export interface CameraMoves {
  readonly showSelection: () => void
  readonly showAll: () => void
}

const noVelocities: Velocities = { drawableVelocities: [], total: 0 }

export function StageView(props: StageProps) {
  const { velocities = noVelocities, view = 'free' } = props
  const { playback, poses, bodies, selected, setSelected, layers, pair, contacts, grounds } = props
  const { ghosts, children } = props
  const { canvas, stage, version, hasWebGl } = useStage(props)
  const [lostCount, setLostCount] = useState(0)
  const sceneDistance = useFittedCamera(props, stage, { version, view })

  useShowFrames(playback, poses, [version], (row) => {
    stage.current?.setRow(row)
    setLostCount(row.chunk.bodies.filter((_, column) => isDisplaced(row, column)).length)
  })
  useEffect(() => stage.current?.setGhosts(ghosts?.bodies), [version, ghosts])
  useShowFrames(ghosts?.shown, ghosts?.poses, [version, ghosts], (row) => stage.current?.setGhostRow(row))
  useEffect(() => {
    void poses.load(playback.frame.value).then((row) => {
      if (row !== undefined)
        stage.current?.setGround(chooseGround(grounds, row, bodies), boundBodies(row, bodies).radius)
    })
  }, [version, grounds.length])
  useEffect(() => stage.current?.select(selected), [version, selected])
  useEffect(
    () => stage.current?.setContacts(contacts, { ...layers, pair }),
    [version, contacts, layers, pair],
  )
  const shownVelocities = layers.velocities ? velocities : noVelocities
  useEffect(
    () => stage.current?.setVelocities(shownVelocities.drawableVelocities),
    [version, shownVelocities],
  )
  useTrail(layers.trails ? playback : undefined, poses, [version, layers.trails], (rows) =>
    stage.current?.setTrail(rows),
  )

  if (!hasWebGl) return <div class="stage">{children}</div>
  const selectBodyAt = ({ offsetX, offsetY }: MouseEvent): void => {
    const body = stage.current?.pick(offsetX, offsetY)
    if (body !== undefined) setSelected(body)
  }
  return (
    <div
      class="stage"
      data-bodies={bodies.length}
      data-contacts={contacts.length}
      data-velocities={shownVelocities.drawableVelocities.length}
      {...(ghosts === undefined ? {} : { 'data-ghosts': ghosts.bodies.length })}
      {...(version === 0 ? { 'data-loading': true } : {})}
    >
      {/* Keyed, because a canvas whose stage was closed cannot have another one. */}
      <canvas
        key={bodies}
        ref={canvas}
        role="img"
        aria-label={`Scene with ${bodies.length} bodies`}
        onClick={selectBodyAt}
      />
      <StageNotes
        {...{ lostCount, layers, contacts, separation: sceneDistance }}
        hasGhosts={ghosts !== undefined}
        velocities={shownVelocities}
        total={bodies.length}
      />
    </div>
  )
}

/** Repeats requests while the server is not available. */
export function usePoses(recording: string, first: number): PoseCache {
  const { server } = useConsole()
  const { poses, closing: closeController } = useMemo(() => {
    const path = `/api/apps/replay/recordings/${encodeURIComponent(recording)}/poses`
    const closeController = new AbortController()
    const read = (from: number, to: number) =>
      retryUnavailable(() => server.getBytes(`${path}?from=${from}&to=${to}`), closeController.signal)
    return { poses: new PoseCache(read, first), closing: closeController }
  }, [recording])
  useEffect(() => () => closeController.abort(), [closeController])
  return poses
}

interface StageParts {
  readonly canvas: RefObject<HTMLCanvasElement | null>
  readonly stage: { readonly current: Stage | undefined }
  /** Number of stages created so far. Effects that fill a new stage depend on it. */
  readonly version: number
  readonly hasWebGl: boolean
}

function useStage({ bodies, isReady, sharedCamera }: StageProps): StageParts {
  const themeVersion = useThemeVersion()
  const canvas = useRef<HTMLCanvasElement>(null)
  const stage = useRef<Stage | undefined>(undefined)
  const [hasWebGl, setWebGl] = useState(true)
  const [version, setVersion] = useState(0)
  useEffect(() => {
    if (!isReady || canvas.current === null) return
    try {
      stage.current = new Stage(
        canvas.current,
        bodies,
        readColors(canvas.current.parentElement as HTMLElement),
      )
    } catch {
      return setWebGl(false)
    }
    setVersion((count) => count + 1)
    const removeStage = sharedCamera?.add(stage.current)
    return () => {
      removeStage?.()
      stage.current?.close()
      stage.current = undefined
    }
  }, [isReady, bodies])
  useSignalEffect(() => {
    themeVersion.value
    if (canvas.current?.parentElement) stage.current?.recolor(readColors(canvas.current.parentElement))
  })
  return { canvas, stage, version, hasWebGl }
}

/** Fits all bodies into the view. Returns 0, or the distance in m of scenes that are too far apart for one view. */
function useFittedCamera(
  { playback, poses, bodies, selected, camera, otherScene }: StageProps,
  stage: StageParts['stage'],
  { version, view }: { readonly version: number; readonly view: SceneView },
): number {
  const [distance, setDistance] = useState(0)
  const fit = (isSelection: boolean) => async (): Promise<void> => {
    const row = await poses.load(playback.frame.value)
    const fittedBodies =
      isSelection && selected !== undefined ? bodies.filter(({ id }) => id === selected) : bodies
    if (row === undefined) return
    const bounds = boundBodies(row, fittedBodies)
    const shared = otherScene === undefined ? undefined : await boundScene(otherScene)
    const joinedBounds = shared === undefined ? bounds : joinBounds(bounds, shared)
    const sceneDistance =
      joinedBounds === undefined ? subtract(bounds.center, shared?.center ?? bounds.center) : noOffset
    setDistance(Math.hypot(...sceneDistance))
    stage.current?.setGhostOffset(sceneDistance)
    if (joinedBounds !== undefined) return stage.current?.fit(joinedBounds, views[view])
    const radius = Math.max(bounds.radius, shared?.radius ?? 0)
    stage.current?.fit({ ...bounds, radius }, views[view], bounds.center)
  }
  if (camera !== undefined) camera.current = { showSelection: fit(true), showAll: fit(false) }
  useEffect(() => void fit(false)(), [version, view, otherScene])
  return distance
}

const noOffset: Point3 = [0, 0, 0]
const subtract = (a: Point3, b: Point3): Point3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]

interface StageNotesProps {
  readonly lostCount: number
  readonly total: number
  readonly layers: Layers
  readonly contacts: readonly Contact[]
  readonly velocities: Velocities
  /** Distance to a scene that is too far away for one view, in m; otherwise 0. */
  readonly separation: number
  readonly hasGhosts: boolean
}

function StageNotes({
  lostCount,
  total,
  layers,
  contacts,
  velocities,
  separation,
  hasGhosts,
}: StageNotesProps) {
  const { drawableVelocities: listed } = velocities
  const notes = [
    lostCount > 0 &&
      `◆ ${lostCount} of ${total} bodies cannot be drawn in this frame: their positions are not finite or too far away.`,
    contacts.length > maxContacts && `${maxContacts} of ${contacts.length} contacts are drawn.`,
    listed.length < velocities.total && `${listed.length} of ${velocities.total} velocities are drawn.`,
  ].filter((note) => note !== false)
  return (
    <>
      {notes.length > 0 && (
        <p class="stage-banner" role="status">
          {notes.join(' ')}
        </p>
      )}
      <ul class="stage-legend" aria-label="Legend">
        {layers.contacts && contacts.length > 0 && <li class="contact">● contact point</li>}
        {layers.forces && contacts.some(({ normal_n }) => normal_n !== null) && (
          <li class="normal">↑ normal force</li>
        )}
        {layers.forces &&
          contacts.some(({ friction_n }) => friction_n !== null && Math.hypot(...friction_n) > 0) && (
            <li class="friction">→ friction</li>
          )}
        {separation > 0 && (
          <li>
            The scenes are far apart:{' '}
            {hasGhosts
              ? `the wireframes are moved by ${formatNumber(separation)} m`
              : 'each is centred on its own bodies'}
          </li>
        )}
        {listed.length > 0 && <li class="velocity">⇢ velocity</li>}
      </ul>
    </>
  )
}

/** Draws without rendering components. Discards a frame that arrives late. */
function useShowFrames(
  shown: ShownFrame | undefined,
  poses: PoseCache | undefined,
  inputs: readonly unknown[],
  show: (row: PoseRow) => void,
): void {
  useEffect(
    () =>
      shown?.frame.subscribe((frame) => {
        const row = poses?.find(frame)
        if (row !== undefined) show(row)
        void poses?.load(frame).then((loaded) => {
          if (row === undefined && loaded !== undefined && shown.frame.peek() === frame) show(loaded)
        })
      }),
    inputs,
  )
}

function useTrail(
  shown: ShownFrame | undefined,
  poses: PoseCache,
  inputs: readonly unknown[],
  show: (rows: readonly PoseRow[]) => void,
): void {
  useEffect(() => {
    let isOn = true
    const stop = shown?.frame.subscribe((frame) => {
      void poses
        .loadTrail(frame, maxTrailFrames)
        .then((rows) => isOn && shown.frame.peek() === frame && show(rows))
    })
    return () => {
      isOn = false
      stop?.()
      show([])
    }
  }, inputs)
}

function listPositions(row: PoseRow, bodies: readonly SceneBody[]): Point3[] {
  return bodies.flatMap(({ id }) => {
    const column = row.chunk.columns.get(id)
    return column === undefined || !isDrawable(row, column) ? [] : [getPosition(row, column)]
  })
}

function boundBodies(row: PoseRow, bodies: readonly SceneBody[]) {
  const radii = bodies.map(({ shape }) => getRadius(shape)).sort((a, b) => a - b)
  return fitPoints(listPositions(row, bodies), radii[Math.floor(radii.length * 0.9)] ?? 0.1)
}

async function boundScene({ shown, poses, bodies }: OtherScene) {
  const row = await poses.load(shown.frame.peek())
  return row === undefined ? undefined : boundBodies(row, bodies)
}

/** Returns the flattest plane that bodies touch, otherwise a level plane below them. */
function chooseGround(grounds: Scene['grounds'], row: PoseRow, bodies: readonly SceneBody[]) {
  const flattestGround = grounds.toSorted((a, b) => b.normal[2] - a.normal[2])[0]
  if (flattestGround !== undefined) return flattestGround
  const heights = listPositions(row, bodies).map(([, , z]) => z)
  const radius = Math.max(0.05, ...bodies.map(({ shape }) => getRadius(shape)))
  return { at: [0, 0, Math.min(0, ...heights) - radius], normal: [0, 0, 1] } as const
}
