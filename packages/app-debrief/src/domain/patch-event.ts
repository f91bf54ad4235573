/** What open views are told of a change: only what is different, as JSON text. */
import { isObject, type JsonObject } from '@causeway/protocol'
import type { FeaturePatch, Patch } from './patch.ts'
import { type PlotDocument, timeState, viewportState } from './plot-document.ts'

/** An event without its revision: a name, and the members of its data as JSON text, without braces. */
export interface ChangeEvent {
  readonly event: 'patch' | 'selection' | 'time' | 'viewport'
  readonly members: string
}

/** The events of a change, in the order in which a view applies them. */
export function eventsOf(patch: Patch, after: PlotDocument): readonly ChangeEvent[] {
  const events: ChangeEvent[] = []
  if (patch.features !== undefined) events.push({ event: 'patch', members: featureMembers(patch.features) })
  if (patch.selection !== undefined)
    events.push({ event: 'selection', members: `"selectedIds":${JSON.stringify(after.selection)}` })
  if (patch.time !== undefined)
    events.push({ event: 'time', members: `"timeState":${JSON.stringify(timeState(after))}` })
  if (patch.viewport !== undefined)
    events.push({ event: 'viewport', members: `"viewportState":${JSON.stringify(viewportState(after))}` })
  return events
}

/** JSON text on one line; line breaks of JSON text are white space, since those of strings are escaped. */
export const oneLine = (json: string): string => json.replaceAll(/\r?\n[ \t]*/g, '')

function featureMembers({ added, updated, removed }: FeaturePatch): string {
  const ids = removed.map(([, text]) => (JSON.parse(text) as JsonObject).id ?? null) // our own text of a feature
  return [
    `"added":[${added.map(([, text]) => oneLine(text)).join(',')}]`,
    `"added_at":[${added.map(([place]) => place).join(',')}]`,
    `"updated":[${updated.map(([, before, after]) => shortest(before, after)).join(',')}]`,
    `"removed":${JSON.stringify(ids)}`,
    `"removed_at":[${removed.map(([place]) => place).join(',')}]`,
  ].join(',')
}

/** A feature whose place stayed is told without its geometry: most of its bytes. */
function shortest(before: string, after: string): string {
  const [old, feature] = [JSON.parse(before) as JsonObject, JSON.parse(after) as JsonObject] // our own texts
  const isMoved = JSON.stringify(old.geometry) !== JSON.stringify(feature.geometry)
  if (isMoved || !isObject(feature.properties)) return oneLine(after)
  const { geometry: _, ...rest } = feature
  return JSON.stringify(rest)
}
