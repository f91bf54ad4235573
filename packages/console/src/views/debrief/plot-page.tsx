import 'leaflet/dist/leaflet.css'
import './debrief.css'
import type { GeoJsonObject } from 'geojson'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { PlotConnection } from '../../data/plot-link.ts'
import { retryUnavailable } from '../../data/server.ts'
import { getId, listShownFeatures, type PlotFeature, type PlotState } from '../../domain/plot.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Chip, ErrorNotice } from '../../ui/state.tsx'
import { ConflictNotices, NoticeList } from './notices.tsx'
import { Outline } from './outline.tsx'
import { PlotMapView } from './plot-map-view.tsx'
import { Properties } from './properties.tsx'
import { TimeBar, useClock } from './time-bar.tsx'

export function PlotPage({ parts: { filename = '' } }: { parts: PathParts }) {
  const { server } = useConsole()
  const link = useMemo(() => new PlotConnection(server, filename), [server, filename])
  const access = server.needsToken.value
  useEffect(() => {
    // Hidden pages disconnect, because a browser opens at most six connections to a server.
    const update = (): void => (document.hidden ? link.disconnect() : void link.connect())
    update()
    document.addEventListener('visibilitychange', update)
    return () => {
      document.removeEventListener('visibilitychange', update)
      link.disconnect()
    }
  }, [link, access])
  const state = link.state.value
  const error = link.error.value
  return (
    <div class="page plot-page">
      <div class="row spread">
        <h1 class="long-text">
          <bdi>{filename}</bdi>
        </h1>
        {state !== undefined && <PlotBar link={link} state={state} />}
      </div>
      {error !== undefined && (
        <ErrorNotice
          error={error}
          retry={() => {
            link.error.value = undefined
            void link.connect()
          }}
        />
      )}
      {state === undefined ? (
        error === undefined && (
          <p class="muted" data-loading>
            Loading…
          </p>
        )
      ) : (
        <Editor link={link} state={state} />
      )}
    </div>
  )
}

function PlotBar({ link, state }: { link: PlotConnection; state: PlotState }) {
  const depths = link.depths.value
  useShortcuts(() => [
    { keys: 'z', label: 'Undo the last change', run: () => void link.undo() },
    { keys: 'Z', label: 'Redo', run: () => void link.redo() },
    { keys: 'Control+s', label: 'Save the plot', run: () => void link.save() },
  ])
  return (
    <div class="row">
      {state.file === 'ok' || state.file === 'unsaved' ? (
        <Chip severity={state.dirty ? 'warn' : 'ok'}>{state.dirty ? 'unsaved' : 'saved'}</Chip>
      ) : (
        <Chip severity="err">{state.file}</Chip>
      )}
      <span class="muted">revision {state.rev}</span>
      <button type="button" class="button" disabled={depths?.undo === 0} onClick={() => void link.undo()}>
        Undo
      </button>
      <button type="button" class="button" disabled={depths?.redo === 0} onClick={() => void link.redo()}>
        Redo
      </button>
      <button type="button" class="button" onClick={() => void link.save()}>
        Save
      </button>
    </div>
  )
}

function Editor({ link, state }: { link: PlotConnection; state: PlotState }) {
  const { server } = useConsole()
  const closeController = useMemo(() => new AbortController(), [])
  useEffect(() => () => closeController.abort(), [])
  const features = useMemo(() => listShownFeatures(state.features), [state.features])
  const selected = useMemo(() => new Set(state.selected), [state.selected])
  const selectedFeatures = features.filter((feature) => selected.has(getId(feature)))
  const clock = useClock(link, state.time)
  const [fit, setFit] = useState<readonly PlotFeature[]>()
  const select = (id: string, isAdded: boolean): void =>
    void link.select(toggleSelection(state.selected, id, isAdded))
  useShortcuts(() => [
    { keys: 'a', label: 'Select all features', run: () => void link.select(listIds(link)) },
    { keys: 'Escape', label: 'Clear the selection', run: () => void link.select([]) },
    { keys: 'f', label: 'Show the selection, or all features', run: () => setFit(listFocused(link)) },
  ])
  return (
    <>
      <ConflictNotices link={link} state={state} />
      <div class="plot">
        <Outline features={features} selected={selected} select={select} link={link} />
        <div class="stack plot-main">
          <PlotMapView
            content={{ features, selected, time: clock.ms }}
            viewport={state.viewport}
            fit={fit}
            showAll={() => setFit([...features])}
            select={select}
            move={(bounds) => void link.setViewport(bounds)}
            loadLand={(bounds) =>
              retryUnavailable(
                () => server.get<GeoJsonObject>(`/api/apps/debrief/coast?bounds=${bounds.join(',')}`),
                closeController.signal,
              )
            }
          />
          {state.time !== null && <TimeBar clock={clock} time={state.time} />}
          <NoticeList link={link} />
        </div>
        <Properties link={link} selectedFeatures={selectedFeatures} ms={clock.ms} show={setFit} />
      </div>
    </>
  )
}

const listIds = (link: PlotConnection): string[] =>
  listShownFeatures(link.state.value?.features ?? []).map(getId)

function listFocused({ state }: PlotConnection): readonly PlotFeature[] {
  const features = listShownFeatures(state.value?.features ?? [])
  const selectedFeatures = features.filter((feature) => state.value?.selected.includes(getId(feature)))
  return selectedFeatures.length > 0 ? selectedFeatures : [...features]
}

/** With `isAdded`, toggles a feature. Otherwise, selects only this feature, or none if it was the only selected one. */
function toggleSelection(selected: readonly string[], id: string, isAdded: boolean): readonly string[] {
  if (isAdded)
    return selected.includes(id) ? selected.filter((selectedId) => selectedId !== id) : [...selected, id]
  return selected.length === 1 && selected[0] === id ? [] : [id]
}
