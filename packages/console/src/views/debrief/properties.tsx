import { useState } from 'preact/hooks'
import type { PlotConnection } from '../../data/plot-link.ts'
import {
  formatPosition,
  getId,
  getKind,
  getLabel,
  listPaths,
  measureRangeAndBearing,
  type PlotFeature,
} from '../../domain/plot.ts'
import { ValueTree } from '../../ui/value-tree.tsx'
import { findTrackPoint } from './track.ts'

interface PropertiesProps {
  readonly link: PlotConnection
  readonly selectedFeatures: readonly PlotFeature[]
  /** The time of the slider, in Unix milliseconds. */
  readonly ms: number | undefined
  readonly show: (features: readonly PlotFeature[]) => void
}

export function Properties({ link, selectedFeatures, ms, show }: PropertiesProps) {
  const [first, second] = selectedFeatures
  return (
    <section class="stack plot-side" aria-labelledby="properties-title">
      <div class="row spread">
        <h2 id="properties-title">Properties</h2>
        {selectedFeatures.length > 0 && <span class="muted">{selectedFeatures.length} selected</span>}
      </div>
      {first === undefined && (
        <p class="muted">
          Select a feature on the map or in the outline. Shift adds to the selection. Clients see what is
          selected.
        </p>
      )}
      {first !== undefined && selectedFeatures.length === 1 && (
        <FeatureForm key={getId(first)} link={link} feature={first} ms={ms} />
      )}
      {first !== undefined && second !== undefined && <RangeAndBearing from={first} to={second} ms={ms} />}
      {selectedFeatures.length > 0 && (
        <div class="row">
          <button type="button" class="button" onClick={() => show([...selectedFeatures])}>
            Zoom to
          </button>
          <DeleteButton
            key={selectedFeatures.map(getId).join()}
            link={link}
            selectedFeatures={selectedFeatures}
          />
        </div>
      )}
    </section>
  )
}

function FeatureForm({
  link,
  feature,
  ms,
}: {
  link: PlotConnection
  feature: PlotFeature
  ms: number | undefined
}) {
  const [draft, setDraft] = useState<{ readonly base: PlotFeature; readonly name: string }>()
  const { name: storedName } = feature.properties ?? {}
  const color = findColor(feature)
  const submit = (): void => {
    if (draft !== undefined && draft.name !== getLabel(draft.base))
      void link.edit(draft.base, { name: draft.name })
    setDraft(undefined)
  }
  return (
    <>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <label class="stack field">
          Name
          <input
            value={draft?.name ?? (typeof storedName === 'string' ? storedName : '')}
            placeholder={getId(feature)}
            onInput={(event) => setDraft({ base: draft?.base ?? feature, name: event.currentTarget.value })}
            onBlur={submit}
          />
        </label>
        {color !== undefined && (
          <label class="row spread">
            Colour
            <input
              type="color"
              value={color.value}
              onChange={(event) => void link.edit(feature, { [color.key]: event.currentTarget.value })}
            />
          </label>
        )}
      </form>
      <Facts feature={feature} ms={ms} />
      <details>
        <summary>All properties</summary>
        <div class="plot-tree">
          <ValueTree value={feature.properties ?? {}} />
        </div>
      </details>
    </>
  )
}

function Facts({ feature, ms }: { feature: PlotFeature; ms: number | undefined }) {
  const paths = listPaths(feature)
  const point = ms === undefined ? undefined : findTrackPoint(feature, ms)
  const [singlePosition] = paths.length === 1 && paths[0]?.length === 1 ? paths[0] : []
  const position = point?.position ?? singlePosition
  const rows: readonly (readonly [string, string])[] = [
    ['Id', getId(feature)],
    ['Type', `${getKind(feature)}, ${feature.geometry?.type ?? 'no geometry'}`],
    ['Vertices', String(paths.reduce((sum, path) => sum + path.length, 0))],
    ...(position === undefined ? [] : [['Position', formatPosition(position)] as const]),
    ...(point === undefined
      ? []
      : ([
          ['Course', `${formatCourse(point.course)}`],
          ['Speed', `${point.speed.toFixed(1)} kn`],
        ] as const)),
  ]
  return <FactList rows={rows} />
}

const FactList = ({ rows }: { rows: readonly (readonly [string, string])[] }) => (
  <dl class="plot-facts">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt class="muted">{name}</dt>
        <dd>
          <bdi>{value.slice(0, 300)}</bdi>
        </dd>
      </div>
    ))}
  </dl>
)

function RangeAndBearing({ from, to, ms }: { from: PlotFeature; to: PlotFeature; ms: number | undefined }) {
  const [a, b] = [from, to].map((feature) => {
    const point = ms === undefined ? undefined : findTrackPoint(feature, ms)
    return point?.position ?? (feature.geometry?.type === 'Point' ? listPaths(feature)[0]?.[0] : undefined)
  })
  if (a === undefined || b === undefined)
    return <p class="muted">Range and bearing need two positions at this time.</p>
  const { range, bearing } = measureRangeAndBearing(a, b)
  return (
    <div class="card stack">
      <strong class="long-text">
        <bdi>{getLabel(from).slice(0, 60)}</bdi> to <bdi>{getLabel(to).slice(0, 60)}</bdi>
      </strong>
      <FactList
        rows={[
          ['Range', `${range.toFixed(2)} nm`],
          ['Bearing', formatCourse(bearing)],
        ]}
      />
    </div>
  )
}

function DeleteButton({
  link,
  selectedFeatures,
}: {
  link: PlotConnection
  selectedFeatures: readonly PlotFeature[]
}) {
  const [isAsking, setAsking] = useState(false)
  return (
    <button
      type="button"
      class="button"
      onBlur={() => setAsking(false)}
      onClick={() => {
        if (isAsking) void link.delete(selectedFeatures.map(getId))
        setAsking(!isAsking)
      }}
    >
      {isAsking
        ? `Delete ${selectedFeatures.length === 1 ? 'the feature' : `${selectedFeatures.length} features`}?`
        : 'Delete'}
    </button>
  )
}

const formatCourse = (degrees: number): string => `${String(Math.round(degrees) % 360).padStart(3, '0')}°`

/** Returns the first property that contains a colour, with the value as `#rrggbb`. */
function findColor({ properties }: PlotFeature): { key: string; value: string } | undefined {
  for (const key of ['stroke', 'color', 'marker-color', 'marker_color']) {
    const value = properties?.[key]
    if (typeof value !== 'string') continue
    const longHex = value.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
    if (/^#[\da-f]{6}$/i.test(longHex)) return { key, value: longHex.toLowerCase() }
  }
  return undefined
}
