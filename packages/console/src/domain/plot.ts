/** Longitude and latitude in degrees. */
export type LonLat = readonly [lon: number, lat: number]

/** A stored feature of a plot: GeoJSON (RFC 7946). */
export interface PlotFeature {
  readonly type: 'Feature'
  readonly id?: string | number
  readonly geometry?: { readonly type: string; readonly coordinates?: unknown } | null
  readonly properties?: Readonly<Record<string, unknown>> | null
}

/** The time slider. Times are ISO 8601. */
export interface PlotTime {
  readonly current: string
  readonly start: string
  readonly end: string
}

/** West, south, east, north in degrees. */
export type PlotBounds = readonly [number, number, number, number]

export interface PlotState {
  readonly rev: number
  readonly dirty: boolean
  readonly file: string
  readonly message?: string
  readonly features: readonly PlotFeature[]
  readonly selected: readonly string[]
  readonly time: PlotTime | null
  readonly viewport: PlotBounds | null
}

export type EventData = Readonly<Record<string, unknown>> & { readonly rev: number }

export const getId = ({ id }: PlotFeature): string => String(id ?? '')

export function getLabel(feature: PlotFeature): string {
  const name = feature.properties?.name
  return typeof name === 'string' && name !== '' ? name : getId(feature) || 'unnamed'
}

export function getKind({ properties, geometry }: PlotFeature): string {
  const type = properties?.dataType
  return typeof type === 'string' ? type : (geometry?.type.toLowerCase() ?? 'other')
}

export const isVisible = ({ properties }: PlotFeature): boolean => properties?.visible !== false

/** Returns the plot after an event; `undefined` if the plot must be loaded again. */
export function applyEvent(
  state: PlotState | undefined,
  event: string,
  data: EventData,
): PlotState | undefined {
  if (event === 'snapshot') return readSnapshot(data)
  if (state === undefined || event === 'reloaded') return undefined
  const { rev } = data
  switch (event) {
    case 'patch':
      return { ...state, rev, dirty: true, features: applyPatch(state.features, data) }
    case 'selection':
      return { ...state, rev, selected: data.selectedIds as string[] }
    case 'time':
      return { ...state, rev, time: data.timeState as PlotTime | null }
    case 'viewport':
      return { ...state, rev, viewport: readBounds(data.viewportState) }
    case 'doc': {
      const { message: _, ...rest } = state
      const { dirty, file, message } = data
      return {
        ...rest,
        rev,
        dirty: dirty === true,
        file: String(file),
        ...(typeof message === 'string' ? { message } : {}),
      }
    }
    default:
      return { ...state, rev }
  }
}

function readSnapshot(data: EventData): PlotState {
  return {
    rev: data.rev,
    dirty: data.dirty === true,
    file: String(data.file),
    features: (data.features ?? []) as PlotFeature[],
    selected: data.selectedIds as string[],
    time: data.timeState as PlotTime | null,
    viewport: readBounds(data.viewportState),
  }
}

const readBounds = (viewport: unknown): PlotBounds | null =>
  (viewport as { readonly bounds: PlotBounds } | null)?.bounds ?? null

/** Excludes time and viewport, which are also stored as features. */
export const listShownFeatures = (features: readonly PlotFeature[]): readonly PlotFeature[] =>
  features.filter(({ properties }) => properties?.dataType !== 'metadata')

function applyPatch(features: readonly PlotFeature[], data: EventData): readonly PlotFeature[] {
  const updated = new Map((data.updated as PlotFeature[]).map((feature) => [getId(feature), feature]))
  const added = data.added as PlotFeature[]
  // Features that were loaded after a snapshot may already contain added ones.
  const removed = new Set([...(data.removed as unknown[]).map(String), ...added.map(getId)])
  const result = features
    .filter((feature) => !removed.has(getId(feature)))
    .map((feature) => {
      const update = updated.get(getId(feature))
      if (update === undefined) return feature
      return 'geometry' in update ? update : { ...update, geometry: feature.geometry ?? null }
    })
  const places = data.added_at as number[]
  for (const [index, feature] of added.entries()) result.splice(places[index] ?? result.length, 0, feature)
  return result
}

/** Returns the lines, rings and points of a geometry. Longitudes continue across the antimeridian. */
export function listPaths({ geometry }: PlotFeature): readonly (readonly LonLat[])[] {
  const paths: LonLat[][] = []
  const collect = (value: unknown): void => {
    if (!Array.isArray(value) || value.length === 0) return
    if (isPosition(value)) paths.push([value])
    else if (value.every(isPosition)) paths.push(unwrapLongitudes(value as LonLat[]))
    else for (const item of value) collect(item)
  }
  collect(geometry?.coordinates)
  return paths
}

const isPosition = (value: unknown): value is LonLat & unknown[] =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1])

function unwrapLongitudes(path: readonly LonLat[]): LonLat[] {
  let before = path[0]?.[0] ?? 0
  return path.map(([lon, lat]) => {
    before = lon + 360 * Math.round((before - lon) / 360)
    return [before, lat]
  })
}

const radians = Math.PI / 180
/** Mean radius of the Earth in nautical miles. */
const earthRadiusNm = 3440.065

/** Returns the range in nautical miles and the initial bearing in degrees on a sphere (haversine formula). */
export function measureRangeAndBearing(
  from: LonLat,
  to: LonLat,
): { readonly range: number; readonly bearing: number } {
  const [lat1, lat2] = [from[1] * radians, to[1] * radians]
  const deltaLon = (to[0] - from[0]) * radians
  const a = Math.sin((lat2 - lat1) / 2) ** 2 + Math.cos(lat1) * Math.cos(lat2) * Math.sin(deltaLon / 2) ** 2
  const y = Math.sin(deltaLon) * Math.cos(lat2)
  const x = Math.cos(lat1) * Math.sin(lat2) - Math.sin(lat1) * Math.cos(lat2) * Math.cos(deltaLon)
  return {
    range: 2 * earthRadiusNm * Math.asin(Math.min(1, Math.sqrt(a))),
    bearing: (Math.atan2(y, x) / radians + 360) % 360,
  }
}

/** Formats a position in degrees and decimal minutes: `36°07.2′N 005°21.0′W`. */
export function formatPosition([lon, lat]: LonLat): string {
  const wrappedLon = lon - 360 * Math.round(lon / 360)
  const format = (
    value: number,
    digits: number,
    [positiveSuffix, negativeSuffix]: readonly [string, string],
  ): string => {
    const tenthMinutes = Math.round(Math.abs(value) * 600)
    const degrees = String(Math.floor(tenthMinutes / 600)).padStart(digits, '0')
    const minutes = ((tenthMinutes % 600) / 10).toFixed(1).padStart(4, '0')
    return `${degrees}°${minutes}′${value < 0 ? negativeSuffix : positiveSuffix}`
  }
  return `${format(lat, 2, ['N', 'S'])} ${format(wrappedLon, 3, ['E', 'W'])}`
}
