import { type Registrar, withContent } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { readViewport } from '../domain/document/plot-state.ts'
import type { Change } from '../memory/plot-methods.ts'
import { getPlotUri } from '../resources/plot-uri.ts'
import { type DebriefContext, type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  changeArguments,
  createBoundsArgument,
  createFeaturesArgument,
  createIdsArgument,
  createLegacyAliases,
  filenameArgument,
  idempotentHints,
  openExample,
  readOnlyHints,
  statusOutput,
  undoableHints,
} from './arguments.ts'
import { type ChangeArgs, changePlot, createCommandChange } from './change-tool.ts'
import { countAffected } from './command-result.ts'

const maxCharacters = 60_000

const changeOutput = { ...statusOutput, success: z.boolean(), featuresAffected: z.int() }
const exampleFeature = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [-4.02, 35.83] },
  properties: { dataType: 'reference-point', name: 'Contact 18' },
}

const getFeaturesInput = {
  ...filenameArgument,
  detail: z.enum(['summary', 'full']).default('summary').describe('Rows or complete features'),
  ids: createIdsArgument('Only features with these ids').optional(),
  data_type: z.string().optional().describe('Only features of this type: track, annotation, …'),
  bbox: createBoundsArgument('Only features in west, south, east, north'),
  simplify_m: z.number().positive().optional().describe('Simplify lines with this tolerance in metres'),
  limit: z.int().min(1).max(1000).default(40).describe('Maximum number of features'),
  cursor: z.string().optional().describe('next_cursor of the previous page'),
}

export function declareFeatureTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_features', {
    title: 'Get features',
    about:
      'List the features of a plot. Returns one row per feature (id, name, type, times, bounds), or with detail full their GeoJSON in pages. Use it to find ids; the linked resource has all features.',
    searchHint: 'which tracks, points are on map',
    hints: readOnlyHints,
    widget: 'map',
    aliases: createLegacyAliases('get_features'),
    input: getFeaturesInput,
    output: { ...statusOutput, features: z.array(z.unknown()), total: z.int() },
    example: { before: openExample, args: { data_type: 'track' } },
    run: getFeatures,
  })
  declareEditTools(app)
}

function declareEditTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('set_features', {
    title: 'Replace all features',
    about:
      'Replace all features of a plot by those of a FeatureCollection, each with an id. Returns their number. Use it to import a complete plot.',
    searchHint: 'replace whole content of map',
    limit: 'update',
    aliases: createLegacyAliases('set_features'),
    input: {
      featureCollection: z.record(z.string(), z.unknown()).describe('GeoJSON FeatureCollection'),
      ...changeArguments,
    },
    output: changeOutput,
    example: {
      before: [{ tool: 'open_plot', args: { filename: 'mission2.plot.json' } }],
      args: {
        featureCollection: { type: 'FeatureCollection', features: [{ id: 'contact', ...exampleFeature }] },
        filename: 'mission2.plot.json',
      },
    },
    run: ({ featureCollection, ...args }, ctx) =>
      changeFeatures(createCommandChange('setFeatureCollection', featureCollection), args, ctx),
  })

  app.tool('add_features', {
    title: 'Add features',
    about:
      'Add features to a plot; features without an id receive one. Returns the ids. Use it to put new tracks, points or annotations on the plot.',
    searchHint: 'put marker, point, line on chart',
    hints: undoableHints,
    limit: 'update',
    aliases: createLegacyAliases('add_features'),
    input: { features: createFeaturesArgument(), ...changeArguments },
    output: changeOutput,
    example: { before: openExample, args: { features: [exampleFeature] } },
    run: ({ features, ...args }, ctx) =>
      changeFeatures(createCommandChange('addFeatures', features), args, ctx),
  })

  app.tool('update_features', {
    title: 'Update features',
    about:
      'Replace features completely by those with the same ids. Returns the ids. Use it to change geometry or properties of existing features.',
    searchHint: 'move point, rename, edit, recolour track',
    hints: idempotentHints,
    limit: 'update',
    aliases: createLegacyAliases('update_features'),
    input: { features: createFeaturesArgument(), ...changeArguments },
    output: changeOutput,
    example: {
      before: openExample,
      args: { features: [{ id: 'point-2', ...exampleFeature }] },
    },
    run: ({ features, ...args }, ctx) =>
      changeFeatures(createCommandChange('updateFeatures', features), args, ctx),
  })

  app.tool('delete_features', {
    title: 'Delete features',
    about:
      'Delete features by id. Returns the ids. Use it to remove features from the plot; undo restores them in their places.',
    searchHint: 'remove annotation, marker, track from chart',
    limit: 'update',
    aliases: createLegacyAliases('delete_features'),
    input: {
      ids: createIdsArgument('Ids of the features'),
      ignore_missing: z.boolean().default(false).describe('Ignore unknown ids'),
      ...changeArguments,
    },
    output: changeOutput,
    example: { before: openExample, args: { ids: ['zone-6'] } },
    run: ({ ids, ignore_missing, ...args }, ctx) =>
      changeFeatures(createCommandChange('deleteFeatures', ids, ignore_missing), args, ctx),
  })
}

const changeFeatures = (change: Change, args: ChangeArgs, ctx: DebriefContext) =>
  changePlot(args, ctx, change, (prepared) => ({
    featuresAffected: countAffected(prepared),
    ids: prepared.addedIds.length > 0 ? prepared.addedIds.slice(0, 50) : prepared.ids,
    feature_count: prepared.features,
    summary: `${toSentence(prepared.results[0]?.message ?? '')} The plot has ${formatCount(prepared.features, 'feature')}.`,
  }))

const toSentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

async function getFeatures(args: z.output<z.ZodObject<typeof getFeaturesInput>>, ctx: DebriefContext) {
  const { filename, detail, ids, data_type, bbox, simplify_m, limit, cursor } = args
  const plot = await findPlot(ctx, filename)
  const { rev } = plot.getStatus()
  const offset = cursor === undefined ? 0 : readCursor(cursor, rev)
  const filter = {
    ids: ids?.map(String),
    dataType: data_type,
    bounds: bbox === undefined ? undefined : readViewport({ bounds: bbox }).bounds,
  }
  const page = { from: offset, limit }
  const { data, status } =
    detail === 'full' || simplify_m !== undefined
      ? await plot.read({ kind: 'features', filter, page, maxCharacters, toleranceM: simplify_m })
      : await plot.read({ kind: 'rows', filter, page })
  const { items, total, byType } = data
  const nextOffset = offset + items.length
  const hasMore = nextOffset < total
  const typeCounts = Object.entries(byType).map(([type, typeCount]) => `${typeCount} ${type}`)
  return withContent(
    {
      ...status,
      type: 'FeatureCollection',
      features: items,
      count: items.length,
      total,
      by_type: byType,
      next_cursor: hasMore ? `${status.rev}:${nextOffset}` : null,
      summary: `${formatCount(total, 'feature')}${total > 0 ? `: ${typeCounts.join(', ')}` : ''}.${hasMore ? ` This page has ${items.length}; pass next_cursor for more.` : ''}`,
    },
    [
      {
        type: 'resource_link' as const,
        uri: getPlotUri('features', plot.filename),
        name: `${plot.filename} features`,
        mimeType: 'application/json',
      },
    ],
  )
}

/** Parses a cursor `<rev>:<offset>`. Rejects a cursor of another revision: it would skip or repeat features. */
function readCursor(cursor: string, rev: number): number {
  const [, cursorRev, offset] = /^(\d{1,15}):(\d{1,9})$/.exec(cursor) ?? []
  if (cursorRev !== undefined && offset !== undefined && Number(cursorRev) === rev) return Number(offset)
  throw new CausewayError(
    'INVALID_CURSOR',
    cursorRev === undefined ? 'not a cursor' : 'the plot has changed since the previous page',
  )
}
