import type { GeoJsonObject } from 'geojson'
import {
  type CircleMarker,
  canvas,
  circleMarker,
  control,
  geoJSON,
  type LatLngTuple,
  type Layer,
  type Map as LeafletMap,
  layerGroup,
  map as openMap,
  type PathOptions,
  polygon,
  polyline,
  type TooltipOptions,
} from 'leaflet'
import {
  getId,
  getKind,
  getLabel,
  isVisible,
  type LonLat,
  listPaths,
  type PlotBounds,
  type PlotFeature,
} from '../../domain/plot.ts'
import { findTrackPoint } from './track.ts'

export interface MapContent {
  readonly features: readonly PlotFeature[]
  readonly selected: ReadonlySet<string>
  /** Unix milliseconds. */
  readonly time: number | undefined
}

export interface MapActions {
  /** Selects a feature. `isAdded` adds it to the selection. */
  readonly select: (id: string, isAdded: boolean) => void
  readonly move: (bounds: PlotBounds) => void
  readonly point: (position: LonLat | undefined) => void
  /** Returns land within bounds as GeoJSON. */
  readonly loadLand: (bounds: PlotBounds) => Promise<GeoJsonObject>
}

const maxNameLength = 60
const maxNames = 200
const dashes = [undefined, '8 4', '2 4', '10 3 2 3']

/** A Leaflet map without tiles. Inserts names as text, not as HTML. */
export class PlotMap {
  readonly #map: LeafletMap
  readonly #actions: MapActions
  readonly #renderer = canvas({ padding: 0.3, tolerance: 6 })
  readonly #land = layerGroup()
  readonly #grid = layerGroup()
  readonly #shapes = layerGroup()
  readonly #moving = layerGroup()
  readonly #box: HTMLElement
  readonly #colors = new Map<string, string>()
  #content: MapContent | undefined
  #isMovedByUser = false
  #landVersion = 0

  constructor(box: HTMLElement, actions: MapActions) {
    this.#box = box
    this.#actions = actions
    this.#map = openMap(box, {
      attributionControl: false,
      zoomControl: false,
      renderer: this.#renderer,
      zoomSnap: 0.25,
      zoomAnimation: false,
      fadeAnimation: false,
      inertia: false,
      boxZoom: false,
      doubleClickZoom: false,
      minZoom: 1,
      maxZoom: 17,
    })
    // The outline lists the names for screen readers.
    this.#map.getPane('tooltipPane')?.setAttribute('aria-hidden', 'true')
    this.#map.createPane('land').style.zIndex = '200'
    for (const group of [this.#land, this.#grid, this.#shapes, this.#moving]) group.addTo(this.#map)
    control.scale({ imperial: false }).addTo(this.#map)
    this.#map.on('dragstart', () => {
      this.#isMovedByUser = true
    })
    box.addEventListener('wheel', this.#onUserMoved, { passive: true })
    box.addEventListener('keydown', this.#onUserMoved)
    this.#map.on('moveend', () => this.#onMoved())
    this.#map.on('mousemove', ({ latlng }) => actions.point([latlng.lng, latlng.lat]))
    this.#map.on('mouseout', () => actions.point(undefined))
  }

  fit([west, south, east, north]: PlotBounds): void {
    this.#map.fitBounds(
      [
        [south, west],
        [north, east],
      ],
      { animate: false },
    )
  }

  fitFeatures(features: readonly PlotFeature[]): void {
    const positions = features.flatMap(listPaths).flat()
    if (positions.length === 0) return
    const lons = positions.map(([lon]) => lon)
    const lats = positions.map(([, lat]) => lat)
    const margin = 0.02
    this.fit([
      lons.reduce((a, b) => Math.min(a, b)) - margin,
      lats.reduce((a, b) => Math.min(a, b)) - margin,
      lons.reduce((a, b) => Math.max(a, b)) + margin,
      lats.reduce((a, b) => Math.max(a, b)) + margin,
    ])
  }

  zoom(steps: number): void {
    this.#isMovedByUser = true
    this.#map.setZoom(this.#map.getZoom() + steps)
  }

  /** If only the time differs, redraws only the positions at that time. */
  show(content: MapContent): void {
    const before = this.#content
    this.#content = content
    if (before?.features !== content.features || before.selected !== content.selected)
      this.#drawShapes(content)
    this.#drawMoving(content)
    this.#hideOverlaps()
  }

  redraw(): void {
    this.#colors.clear()
    if (this.#content !== undefined) this.#drawShapes(this.#content)
    this.#onMoved()
  }

  close(): void {
    this.#map.remove()
  }

  readonly #onUserMoved = (): void => {
    this.#isMovedByUser = true
  }

  #onMoved(): void {
    this.#drawGrid()
    void this.#drawLand()
    this.#hideOverlaps()
    if (this.#isMovedByUser) this.#actions.move(this.#bounds(0))
    this.#isMovedByUser = false
  }

  #bounds(padding: number): PlotBounds {
    const box = this.#map.getBounds().pad(padding)
    const clampLat = (lat: number): number => Math.max(-89.9, Math.min(89.9, lat))
    const west = box.getWest()
    const east = Math.min(box.getEast(), west + 360)
    const round = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
    return [round(west), round(clampLat(box.getSouth())), round(east), round(clampLat(box.getNorth()))]
  }

  async #drawLand(): Promise<void> {
    const version = ++this.#landVersion
    const land = await this.#actions.loadLand(this.#bounds(0.5)).catch(() => undefined)
    if (land === undefined || version !== this.#landVersion) return
    this.#land.clearLayers()
    geoJSON(land, {
      pane: 'land',
      interactive: false,
      style: { color: this.#color('--coast'), weight: 1, fillColor: this.#color('--land'), fillOpacity: 1 },
    }).addTo(this.#land)
    this.#box.dataset.land = ''
  }

  #drawGrid(): void {
    this.#grid.clearLayers()
    const [west, south, east, north] = this.#bounds(0)
    const step = chooseStep(Math.max(east - west, north - south))
    const options = { color: this.#color('--line'), weight: 1, interactive: false }
    for (let lon = Math.ceil(west / step) * step; lon <= east; lon += step)
      polyline(
        [
          [south, lon],
          [north, lon],
        ],
        options,
      ).addTo(this.#grid)
    for (let lat = Math.ceil(south / step) * step; lat <= north; lat += step)
      polyline(
        [
          [lat, west],
          [lat, east],
        ],
        options,
      ).addTo(this.#grid)
  }

  #drawShapes({ features, selected }: MapContent): void {
    this.#shapes.clearLayers()
    let names = 0
    for (const [index, feature] of features.entries()) {
      if (!isVisible(feature) || getKind(feature) === 'backdrop') continue
      const isSelected = selected.has(getId(feature))
      for (const [layerIndex, layer] of this.#createLayers(feature, index, isSelected).entries()) {
        layer.on('click', ({ originalEvent }: { originalEvent: MouseEvent }) =>
          this.#actions.select(getId(feature), originalEvent.shiftKey),
        )
        layer.addTo(this.#shapes)
        // The name of a track is shown at its current position instead.
        if (layerIndex === 0 && names < maxNames && feature.geometry?.type !== 'LineString') {
          names++
          layer.bindTooltip(createName(feature), nameOptions(feature))
        }
      }
    }
  }

  #createLayers(feature: PlotFeature, index: number, isSelected: boolean): Layer[] {
    const color = this.#getColor(feature, index)
    const type = feature.geometry?.type ?? ''
    const paths = listPaths(feature).map((path) => path.map(toLatLng))
    const options: PathOptions = { color, weight: isSelected ? 4 : 2 }
    if (type.endsWith('Point')) {
      const style = { ...options, radius: isSelected ? 7 : 5, fillColor: color, fillOpacity: 0.9, weight: 2 }
      const ring = isSelected ? this.#color('--fg') : color
      return paths.flat().map((position) => circleMarker(position, { ...style, color: ring }))
    }
    if (type.endsWith('Polygon')) {
      const line = isSelected ? this.#color('--fg') : color
      return [
        polygon(paths, { ...options, color: line, fillColor: color, fillOpacity: isSelected ? 0.28 : 0.14 }),
      ]
    }
    const dash = getKind(feature) === 'track' ? dashes[index % dashes.length] : undefined
    const halo = { color: this.#color('--fg'), weight: 7, opacity: 0.35, interactive: false }
    return [
      ...(isSelected ? [polyline(paths, halo)] : []),
      polyline(paths, { ...options, ...(dash === undefined || isSelected ? {} : { dashArray: dash }) }),
    ]
  }

  #drawMoving({ features, selected, time }: MapContent): void {
    this.#moving.clearLayers()
    if (time === undefined) return
    for (const [index, feature] of features.entries()) {
      if (!isVisible(feature)) continue
      const point = findTrackPoint(feature, time)
      if (point === undefined) continue
      const color = this.#getColor(feature, index)
      const isSelected = selected.has(getId(feature))
      const marker: CircleMarker = circleMarker(toLatLng(point.position), {
        radius: isSelected ? 8 : 6,
        color: this.#color('--bg'),
        weight: 2,
        fillColor: color,
        fillOpacity: 1,
      })
      marker.on('click', ({ originalEvent }) => this.#actions.select(getId(feature), originalEvent.shiftKey))
      marker.addTo(this.#moving)
      if (index < maxNames) marker.bindTooltip(createName(feature), nameOptions(feature))
    }
  }

  /** Hides names that would overlap, preferring those of selected features. */
  #hideOverlaps(): void {
    const names = [...this.#box.querySelectorAll<HTMLElement>('.plot-name')]
    const isChosen = (name: HTMLElement): boolean =>
      this.#content?.selected.has(name.dataset.id ?? '') ?? false
    names.sort((a, b) => Number(isChosen(b)) - Number(isChosen(a)))
    const boxes = names.map((name) => name.getBoundingClientRect())
    const shownBoxes: DOMRect[] = []
    for (const [index, name] of names.entries()) {
      const box = boxes[index] as DOMRect
      const isUncovered = shownBoxes.every((otherBox) => !overlaps(box, otherBox))
      name.style.visibility = isUncovered ? '' : 'hidden'
      if (isUncovered) shownBoxes.push(box)
    }
  }

  #getColor({ properties }: PlotFeature, index: number): string {
    for (const key of ['stroke', 'color', 'marker-color', 'marker_color']) {
      const color = properties?.[key]
      if (typeof color !== 'string' || !CSS.supports('color', color)) continue
      // The text colour makes the result visible in both themes.
      return this.#resolve(`color-mix(in srgb, ${color} 72%, var(--fg))`)
    }
    return this.#color(`--series${(index % 4) + 1}`)
  }

  #color(token: string): string {
    return this.#resolve(`var(${token})`)
  }

  /** A canvas does not support CSS variables. */
  #resolve(value: string): string {
    const cachedColor = this.#colors.get(value)
    if (cachedColor !== undefined) return cachedColor
    const probe = document.createElement('span')
    probe.style.color = value
    this.#box.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    this.#colors.set(value, color)
    return color
  }
}

const toLatLng = ([lon, lat]: LonLat): LatLngTuple => [lat, lon]

/** Leaflet inserts strings as HTML. */
function createName(feature: PlotFeature): HTMLElement {
  const name = document.createElement('bdi')
  name.className = 'plot-name'
  name.dataset.id = getId(feature)
  name.textContent = getLabel(feature).slice(0, maxNameLength)
  return name
}

function nameOptions({ geometry }: PlotFeature): TooltipOptions {
  const isArea = geometry?.type.endsWith('Polygon')
  return {
    permanent: true,
    direction: isArea ? 'center' : 'right',
    offset: isArea ? [0, 0] : [10, 0],
    className: 'plot-tooltip',
    opacity: 1,
  }
}

const overlaps = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** Returns the degrees between lines of the graticule, so that at most eight are visible. */
function chooseStep(span: number): number {
  const steps = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30]
  return steps.find((step) => span / step <= 8) ?? 45
}
