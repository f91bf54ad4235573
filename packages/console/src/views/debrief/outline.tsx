import { useState } from 'preact/hooks'
import type { PlotConnection } from '../../data/plot-link.ts'
import { getId, getKind, getLabel, isVisible, type PlotFeature } from '../../domain/plot.ts'

const kindNames: Readonly<Record<string, string>> = {
  track: 'Tracks',
  'reference-point': 'Points',
  buoyfield: 'Buoy fields',
  annotation: 'Annotations',
  backdrop: 'Backdrops',
}

const pageSize = 100
const maxNameLength = 200

interface OutlineProps {
  readonly features: readonly PlotFeature[]
  readonly selected: ReadonlySet<string>
  readonly select: (id: string, isAdded: boolean) => void
  readonly link: PlotConnection
}

export function Outline({ features, selected, select, link }: OutlineProps) {
  const layers = new Map<string, PlotFeature[]>()
  for (const feature of features) {
    const kind = getKind(feature)
    layers.set(kind, [...(layers.get(kind) ?? []), feature])
  }
  return (
    <section class="stack plot-side" aria-labelledby="outline-title">
      <div class="row spread">
        <h2 id="outline-title">Outline</h2>
        <span class="muted">{features.length} features</span>
      </div>
      {features.length === 0 && <p class="muted">This plot has no features.</p>}
      {[...layers].map(([kind, members]) => (
        <PlotLayer
          key={kind}
          name={kindNames[kind] ?? kind}
          features={members}
          selected={selected}
          select={select}
          link={link}
        />
      ))}
    </section>
  )
}

function PlotLayer({ name, features, selected, select, link }: OutlineProps & { readonly name: string }) {
  const [limit, setLimit] = useState(pageSize)
  return (
    <details class="plot-layer" open>
      <summary>
        {name.slice(0, maxNameLength)} <span class="muted">{features.length}</span>
      </summary>
      <ul>
        {features.slice(0, limit).map((feature) => {
          const id = getId(feature)
          const label = getLabel(feature).slice(0, maxNameLength)
          return (
            <li class="outline-row" key={id}>
              <input
                type="checkbox"
                aria-label={`Show ${label}`}
                checked={isVisible(feature)}
                onChange={(event) => void link.edit(feature, { visible: event.currentTarget.checked })}
              />
              <button
                type="button"
                class="outline-name"
                aria-pressed={selected.has(id)}
                onClick={(event) => select(id, event.shiftKey)}
              >
                <bdi>{label}</bdi>
              </button>
            </li>
          )
        })}
      </ul>
      {features.length > limit && (
        <button type="button" class="button" onClick={() => setLimit(limit + 10 * pageSize)}>
          Show more of {features.length}
        </button>
      )}
    </details>
  )
}
