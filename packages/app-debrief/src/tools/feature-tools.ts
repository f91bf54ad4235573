/** Features: reading them in a size that a model can pay for, and changing them. */
import { type Registrar, withContent } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { readViewport } from '../domain/plot-state.ts'
import { plotUri } from '../plot-uri.ts'
import { type DebriefContext, type DebriefSession, openPlotOf } from '../session.ts'
import type { Debrief } from '../store.ts'
import { affected, changed, count } from './changing.ts'
import {
  changeArguments,
  changes,
  featuresArgument,
  filenameArgument,
  idsArgument,
  opened,
  original,
  reads,
  stampOutput,
} from './shape.ts'

/** Characters of whole features in one answer. */
const mostCharacters = 60_000

const changedOutput = { ...stampOutput, success: z.boolean(), featuresAffected: z.int() }
const contact = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-4.02, 35.83] },
  properties: { dataType: 'reference-point', name: 'Contact 18' },
}
const second = [{ tool: 'open_plot', args: { filename: 'mission2.plot.json' } }]

/** Declares get_features, set_features, add_features, update_features and delete_features. */
export function featureTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_features', {
    about:
      'Features of a plot: by default a line each (id, name, type, times, box); detail full gives GeoJSON, in parts. Everything at once is the linked resource.',
    hints: reads,
    aliases: original('get_features'),
    input: {
      ...filenameArgument,
      detail: z.enum(['summary', 'full']).default('summary').describe('line or whole feature'),
      ids: idsArgument('only these').optional(),
      data_type: z.string().optional().describe('track, annotation, …'),
      bbox: z.array(z.number()).length(4).optional().describe('west, south, east, north'),
      simplify_m: z.number().positive().optional().describe('thin lines by this tolerance, metres'),
      limit: z.int().min(1).max(1000).default(40).describe('most features'),
      cursor: z.string().optional().describe('next_cursor of before'),
    },
    output: { ...stampOutput, features: z.array(z.unknown()), total: z.int() },
    example: { before: opened, args: { data_type: 'track' } },
    run: getFeatures,
  })

  app.tool('set_features', {
    about: 'Replace all features of a plot by those of a FeatureCollection. Each needs an id.',
    limit: 'update',
    aliases: original('set_features'),
    input: {
      featureCollection: z.record(z.string(), z.unknown()).describe('GeoJSON FeatureCollection'),
      ...changeArguments,
    },
    output: changedOutput,
    example: {
      before: second,
      args: {
        featureCollection: { type: 'FeatureCollection', features: [{ id: 'contact', ...contact }] },
        filename: 'mission2.plot.json',
      },
    },
    run: ({ featureCollection, ...args }, ctx) =>
      edited({ command: 'setFeatureCollection', payload: featureCollection }, args, ctx),
  })

  app.tool('add_features', {
    about: 'Add features to a plot; one without an id gets one.',
    hints: changes,
    limit: 'update',
    aliases: original('add_features'),
    input: { features: featuresArgument(), ...changeArguments },
    output: changedOutput,
    example: { before: opened, args: { features: [contact] } },
    run: ({ features, ...args }, ctx) => edited({ command: 'addFeatures', payload: features }, args, ctx),
  })

  app.tool('update_features', {
    about: 'Replace features, wholly, by those with the same id.',
    hints: { destructive: false, idempotent: true },
    limit: 'update',
    aliases: original('update_features'),
    input: { features: featuresArgument(), ...changeArguments },
    output: changedOutput,
    example: {
      before: opened,
      args: { features: [{ id: 'point-2', ...contact }] },
    },
    run: ({ features, ...args }, ctx) => edited({ command: 'updateFeatures', payload: features }, args, ctx),
  })

  app.tool('delete_features', {
    about: 'Delete features by id. Undo brings them back to their places.',
    limit: 'update',
    aliases: original('delete_features'),
    input: {
      ids: idsArgument('ids'),
      ignore_missing: z.boolean().default(false).describe('pass over unknown ids'),
      ...changeArguments,
    },
    output: changedOutput,
    example: {
      before: opened,
      args: { ids: ['zone-6'] },
    },
    run: ({ ids, ignore_missing, ...args }, ctx) =>
      edited({ command: 'deleteFeatures', payload: ids }, args, ctx, ignore_missing),
  })
}

/** Applies one command about features. */
const edited = (
  command: { readonly command: string; readonly payload: unknown },
  args: { readonly filename?: string | null | undefined; readonly if_rev?: number | undefined },
  ctx: DebriefContext,
  ignoreMissing = false,
) =>
  changed(args, ctx, { kind: 'commands', commands: command, ignoreMissing }, (made) => ({
    featuresAffected: affected(made),
    ids: made.addedIds.length > 0 ? made.addedIds.slice(0, 50) : made.ids,
    feature_count: made.features,
    said: `${sentence(made.results[0]?.message ?? '')} The plot has ${count(made.features)}.`,
  }))

const sentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

interface GetArgs {
  readonly filename?: string | null | undefined
  readonly detail: 'summary' | 'full'
  readonly ids?: readonly (string | number)[] | undefined
  readonly data_type?: string | undefined
  readonly bbox?: readonly number[] | undefined
  readonly simplify_m?: number | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

async function getFeatures(args: GetArgs, ctx: DebriefContext) {
  const { filename, detail, ids, data_type, bbox, simplify_m, limit, cursor } = args
  const plot = await openPlotOf(ctx, filename)
  const { rev } = plot.stamp()
  const from = cursor === undefined ? 0 : placeOf(cursor, rev)
  const filter = {
    ids: ids?.map(String),
    dataType: data_type,
    bounds: bbox === undefined ? undefined : readViewport({ bounds: bbox }).bounds,
  }
  const part = { from, limit }
  const { data, stamp } =
    detail === 'full' || simplify_m !== undefined
      ? await plot.read({ kind: 'features', filter, part, mostCharacters, toleranceM: simplify_m })
      : await plot.read({ kind: 'rows', filter, part })
  const { items, total, byType } = data
  const next = from + items.length
  const isPart = next < total
  const uri = plotUri('features', plot.filename)
  return withContent(
    {
      ...stamp,
      type: 'FeatureCollection',
      features: items,
      count: items.length,
      total,
      by_type: byType,
      next_cursor: isPart ? `${stamp.rev}:${next}` : null,
      summary: `${count(total)}${total > 0 ? `: ${words(byType)}` : ''}.${isPart ? ` Shown are ${items.length}; go on with next_cursor.` : ''}`,
    },
    [
      {
        type: 'resource_link' as const,
        uri,
        name: `${plot.filename} features`,
        mimeType: 'application/json',
      },
    ],
  )
}

const words = (byType: Readonly<Record<string, number>>): string =>
  Object.entries(byType)
    .map(([type, number]) => `${number} ${type}`)
    .join(', ')

/** A cursor is `<rev>:<place>`: of another revision it would skip or repeat features. */
function placeOf(cursor: string, rev: number): number {
  const [, of, place] = /^(\d{1,15}):(\d{1,9})$/.exec(cursor) ?? []
  if (of !== undefined && place !== undefined && Number(of) === rev) return Number(place)
  throw new CausewayError('INVALID_CURSOR', of === undefined ? 'not a cursor' : 'the plot has changed since')
}
