import { isObject, type JsonObject } from '@causeway/protocol'
import { getTimeState, getViewport, type PlotDocument } from '../document/plot-document.ts'
import { toOneLine } from '../document/plot-text.ts'
import type { FeaturePatch, Patch } from './patch.ts'

/** An event for viewers. `members` is the JSON of its data without braces and revision. */
export interface ChangeEvent {
  readonly event: 'patch' | 'selection' | 'time' | 'viewport'
  readonly members: string
}

export function listEvents(patch: Patch, after: PlotDocument): readonly ChangeEvent[] {
  const events: ChangeEvent[] = []
  if (patch.features !== undefined)
    events.push({ event: 'patch', members: formatFeaturePatch(patch.features) })
  if (patch.selection !== undefined)
    events.push({ event: 'selection', members: `"selectedIds":${JSON.stringify(after.selection)}` })
  if (patch.time !== undefined)
    events.push({ event: 'time', members: `"timeState":${JSON.stringify(getTimeState(after))}` })
  if (patch.viewport !== undefined)
    events.push({ event: 'viewport', members: `"viewportState":${JSON.stringify(getViewport(after))}` })
  return events
}

function formatFeaturePatch({ added, updated, removed }: FeaturePatch): string {
  const ids = removed.map(([, text]) => (JSON.parse(text) as JsonObject).id ?? null)
  return [
    `"added":[${added.map(([, text]) => toOneLine(text)).join(',')}]`,
    `"added_at":[${added.map(([position]) => position).join(',')}]`,
    `"updated":[${updated.map(([, before, after]) => formatUpdate(before, after)).join(',')}]`,
    `"removed":${JSON.stringify(ids)}`,
    `"removed_at":[${removed.map(([position]) => position).join(',')}]`,
  ].join(',')
}

/** Omits an unchanged geometry, usually most of the text. */
function formatUpdate(before: string, after: string): string {
  const [oldFeature, newFeature] = [JSON.parse(before) as JsonObject, JSON.parse(after) as JsonObject]
  const isMoved = JSON.stringify(oldFeature.geometry) !== JSON.stringify(newFeature.geometry)
  if (isMoved || !isObject(newFeature.properties)) return toOneLine(after)
  const { geometry: _, ...rest } = newFeature
  return JSON.stringify(rest)
}
