import { useEffect, useRef, useState } from 'preact/hooks'
import { formatPosition, type LonLat, type PlotBounds, type PlotFeature } from '../../domain/plot.ts'
import { useThemeVersion } from '../../ui/canvas-colors.ts'
import { type MapActions, type MapContent, PlotMap } from './plot-map.ts'

/** Pause between a move of the map and the change of the plot's viewport, in ms. */
const moveDelayMs = 500

interface PlotMapViewProps {
  readonly content: MapContent
  readonly viewport: PlotBounds | null
  /** When this changes, the map moves to these features. */
  readonly fit: readonly PlotFeature[] | undefined
  readonly showAll: () => void
  readonly select: MapActions['select']
  readonly move: (bounds: PlotBounds) => void
  readonly loadLand: MapActions['loadLand']
}

export function PlotMapView(props: PlotMapViewProps) {
  const { content, viewport, fit, showAll } = props
  const themeVersion = useThemeVersion()
  const box = useRef<HTMLDivElement>(null)
  const map = useRef<PlotMap>(undefined)
  const latest = useRef(props)
  latest.current = props
  /** Viewports of this map that the plot has not confirmed yet, oldest first. */
  const sentViewports = useRef<readonly string[]>([])
  const [pointer, setPointer] = useState<LonLat>()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const plotMap = new PlotMap(box.current as HTMLElement, {
      select: (id, isAdded) => latest.current.select(id, isAdded),
      move: (bounds) => {
        clearTimeout(timer)
        timer = setTimeout(() => {
          sentViewports.current = [...sentViewports.current, JSON.stringify(bounds)]
          latest.current.move(bounds)
        }, moveDelayMs)
      },
      point: setPointer,
      loadLand: (bounds) => latest.current.loadLand(bounds),
    })
    map.current = plotMap
    return () => {
      clearTimeout(timer)
      plotMap.close()
    }
  }, [])
  // Moves the map after changes by other clients, but not after its own.
  const target = JSON.stringify(viewport)
  useEffect(() => {
    const sentIndex = sentViewports.current.lastIndexOf(target)
    sentViewports.current = sentIndex < 0 ? [] : sentViewports.current.slice(sentIndex + 1)
    if (sentIndex >= 0) return
    if (viewport !== null) map.current?.fit(viewport)
    else map.current?.fitFeatures(latest.current.content.features)
  }, [target])
  useEffect(() => fit && map.current?.fitFeatures(fit), [fit])
  useEffect(() => map.current?.show(content), [content.features, content.selected, content.time])
  const theme = themeVersion.value
  useEffect(() => map.current?.redraw(), [theme])
  return (
    <div class="plot-map">
      <div
        class="plot-map-box"
        ref={box}
        role="application"
        aria-label="Map of the plot. The outline lists its features."
        data-features={content.features.length}
      />
      <div class="plot-map-bar">
        <button type="button" class="button" aria-label="Zoom in" onClick={() => map.current?.zoom(1)}>
          +
        </button>
        <button type="button" class="button" aria-label="Zoom out" onClick={() => map.current?.zoom(-1)}>
          −
        </button>
        <button type="button" class="button" onClick={showAll}>
          All
        </button>
      </div>
      <div class="plot-map-foot muted">
        <span class="mono">{pointer === undefined ? '' : formatPosition(pointer)}</span>
        <span>Coast: Natural Earth</span>
      </div>
    </div>
  )
}
