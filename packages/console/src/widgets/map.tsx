import 'leaflet/dist/leaflet.css'
import '../views/debrief/debrief.css'
import type { GeoJsonObject } from 'geojson'
import { useMemo, useState } from 'preact/hooks'
import { getId, getLabel, listShownFeatures, type PlotFeature, type PlotTime } from '../domain/plot.ts'
import { LoadedView, useLoaded } from '../ui/state.tsx'
import { PlotMapView } from '../views/debrief/plot-map-view.tsx'
import { openWidget, WidgetActions, type WidgetProps } from './widget.tsx'

interface LoadedPlot {
  readonly features: readonly PlotFeature[]
  readonly selected: readonly string[]
  readonly time: PlotTime | null
}

function MapWidget({ app, data }: WidgetProps) {
  const filename = String(data.filename ?? '')
  const loaded = useLoaded(async (): Promise<LoadedPlot> => {
    const uri = `plot://${encodeURIComponent(filename)}`
    const [{ features }, { selectedIds }, time] = await Promise.all([
      app.read<{ features: readonly PlotFeature[] }>('debrief', `${uri}/features`),
      app.read<{ selectedIds: readonly string[] }>('debrief', `${uri}/selection`),
      app.read<PlotTime | null>('debrief', `${uri}/time`),
    ])
    return { features, selected: selectedIds, time }
  }, [data])
  return (
    <LoadedView loaded={loaded}>
      {(plot) => <MapView app={app} data={data} filename={filename} plot={plot} />}
    </LoadedView>
  )
}

function MapView({
  app,
  data,
  filename,
  plot,
}: Pick<WidgetProps, 'app' | 'data'> & { filename: string; plot: LoadedPlot }) {
  const features = useMemo(() => listShownFeatures(plot.features), [plot])
  const [ids, setIds] = useState(plot.selected)
  const [fit, setFit] = useState<readonly PlotFeature[]>()
  const selected = useMemo(() => new Set(ids), [ids])
  const select = (id: string): void => {
    const next = ids.length === 1 && ids[0] === id ? [] : [id]
    setIds(next)
    app.call('debrief', 'set_selection', { filename, selectedIds: next }).catch(() => setIds(ids))
  }
  const names = features.filter((feature) => selected.has(getId(feature))).map(getLabel)
  const time = plot.time === null ? undefined : Date.parse(plot.time.current)
  const content = useMemo(() => ({ features, selected, time }), [features, selected])
  return (
    <>
      <p class="widget-head">
        <strong>
          <bdi>{filename}</bdi>
        </strong>{' '}
        {features.length} features
        {names.length > 0 && <bdi>, selected: {names.join(', ').slice(0, 200)}</bdi>}
      </p>
      <PlotMapView
        {...{ content, fit, select }}
        viewport={null}
        showAll={() => setFit([...features])}
        move={() => {}}
        loadLand={(bounds) =>
          app.read<GeoJsonObject>('debrief', `plots://coast/${encodeURIComponent(bounds.join(','))}`)
        }
      />
      <label class="row">
        Select
        <select value={ids[0] ?? ''} onChange={({ currentTarget }) => select(currentTarget.value)}>
          <option value="">nothing</option>
          {features.map((feature) => (
            <option key={getId(feature)} value={getId(feature)}>
              {getLabel(feature).slice(0, 100)}
            </option>
          ))}
        </select>
      </label>
      <WidgetActions
        app={app}
        question={`What is the situation in the plot ${filename}?`}
        url={typeof data.viewer_url === 'string' ? data.viewer_url : undefined}
      />
    </>
  )
}

openWidget('map', MapWidget)
