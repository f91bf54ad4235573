/**
 * The commands of the original state server, `{command, params}`, over its WebSocket and by POST: each is a call of one of
 * our tools, so limits, audit and transactions are the same as for everybody else.
 */
import type { ChannelContext } from '@causeway/app-kit'
import {
  asCausewayError,
  CausewayError,
  type ErrorObject,
  errorObject,
  isObject,
  type JsonObject,
  rowOf,
} from '@causeway/protocol'
import { type DebriefSession, openPlotOf } from './session.ts'
import type { Debrief } from './store.ts'

/** What the channels hand over. */
export type LegacyContext = ChannelContext<Debrief, DebriefSession>

/**
 * An answer of the original: a result as JSON text, since that of a large plot takes long to parse and to write again; or
 * an error with a number or `MULTIPLE_PLOTS` as code.
 */
export type LegacyAnswer = { readonly result: string } | { readonly error: LegacyError }

/** An error in the words of the original, with ours beside it. */
export interface LegacyError {
  readonly message: string
  readonly code: number | 'MULTIPLE_PLOTS'
  readonly available_plots?: unknown
  readonly details: ErrorObject
}

/** Answers one command; never throws. */
export async function legacyCommand(request: unknown, ctx: LegacyContext): Promise<LegacyAnswer> {
  try {
    if (!isObject(request) || typeof request.command !== 'string')
      throw invalid('a command is {command, params}')
    const { command, params } = request
    const run = Object.hasOwn(commands, command) ? commands[command] : undefined
    if (run === undefined)
      throw invalid(`unknown command: ${command.slice(0, 80)}; there are ${Object.keys(commands).join(', ')}`)
    return { result: await run(isObject(params) ? params : {}, ctx) }
  } catch (error) {
    const known = asCausewayError(error)
    if (known.code === 'INTERNAL') ctx.log.error({ err: error }, 'a command failed')
    return { error: legacyError(known) }
  }
}

/** An answer as it is sent. */
export const answerText = (answer: LegacyAnswer): string =>
  'result' in answer ? `{"result":${answer.result}}` : JSON.stringify(answer)

/** The HTTP status of an answer. */
export const statusOf = (answer: LegacyAnswer): number =>
  'error' in answer ? rowOf(answer.error.details.code).http : 200

/** The error of a command. */
function legacyError(error: CausewayError): LegacyError {
  const details = errorObject(error)
  const isSeveral = error.code === 'MULTIPLE_PLOTS'
  const { http } = rowOf(error.code)
  const { available_plots } = details.data
  return {
    message: error.message,
    code: isSeveral ? 'MULTIPLE_PLOTS' : http === 404 ? 404 : http < 500 ? 400 : 500,
    ...(isSeveral ? { available_plots } : {}),
    details,
  }
}

/** Runs a command; gives its result as JSON text. */
type Run = (params: JsonObject, ctx: LegacyContext) => Promise<string>

/** A tool whose answer is not told. */
const done =
  (tool: string, args: (params: JsonObject) => JsonObject, result: string | null = null): Run =>
  async (params, ctx) => {
    await ctx.call(tool, withFilename(params, args(params)))
    return JSON.stringify(result)
  }

/** One member of what a tool answers. */
const member =
  (tool: string, name: string, args: (params: JsonObject) => JsonObject = () => ({})): Run =>
  async (params, ctx) =>
    JSON.stringify((await ctx.call(tool, withFilename(params, args(params))))[name] ?? null)

/** The original takes unknown ids without a word. */
const tolerant = (command: string, payload: unknown): JsonObject => ({
  command: { command, payload },
  ignore_missing: true,
})

const commands: Readonly<Record<string, Run>> = {
  get_feature_collection: async ({ filename }, ctx) =>
    (await (await openPlotOf(ctx, text(filename))).read({ kind: 'collection' })).data,
  set_feature_collection: done('set_features', ({ featureCollection, data }) => ({
    featureCollection: featureCollection ?? data,
  })),
  get_selected_features: async ({ filename }, ctx) =>
    JSON.stringify((await (await openPlotOf(ctx, text(filename))).read({ kind: 'selected' })).data),
  set_selected_features: done('apply_command', ({ ids }) => tolerant('setSelection', { selectedIds: ids })),
  update_features: done('apply_command', ({ features }) => tolerant('updateFeatures', features)),
  add_features: done('add_features', ({ features }) => ({ features })),
  delete_features: done('delete_features', ({ ids }) => ({ ids, ignore_missing: true })),
  zoom_to_selection: done('zoom_to_selection', () => ({})),
  list_open_plots: async (_params, { store }) => JSON.stringify(store.list()),
  get_time: member('get_time', 'timeState'),
  set_time: done('set_time', ({ timeState }) => ({ timeState }), 'Time state updated successfully'),
  get_viewport: member('get_viewport', 'viewportState'),
  set_viewport: done(
    'set_viewport',
    ({ viewportState }) => ({ viewportState }),
    'Viewport state updated successfully',
  ),
  notify: done('notify', ({ message }) => ({ message })),
  apply_command: member('apply_command', 'message', ({ command }) => ({ command })),
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const withFilename = ({ filename }: JsonObject, args: JsonObject): JsonObject =>
  typeof filename === 'string' ? { ...args, filename } : args

const invalid = (message: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, { remedy: 'send {"command": "<name>", "params": {…}}' })
