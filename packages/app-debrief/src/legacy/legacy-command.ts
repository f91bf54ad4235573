import type { ChannelContext } from '@causeway/app-kit'
import {
  asCausewayError,
  CausewayError,
  type ErrorObject,
  isObject,
  type JsonObject,
  toErrorObject,
} from '@causeway/protocol'
import { type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'

export type LegacyContext = ChannelContext<Debrief, DebriefSession>

/** `result` is JSON text, because parsing and formatting a large plot again is slow. */
type LegacyResponse = { readonly result: string } | { readonly error: LegacyError; readonly status: number }

/** `details` contains the complete error. */
interface LegacyError {
  readonly message: string
  readonly code: number | 'MULTIPLE_PLOTS'
  readonly available_plots?: unknown
  readonly details: ErrorObject
}

/** Runs a command `{command, params}` as a tool call. Never throws. */
export async function runLegacyCommand(request: unknown, ctx: LegacyContext): Promise<LegacyResponse> {
  try {
    if (!isObject(request) || typeof request.command !== 'string')
      throw createInvalidError('a command is {command, params}')
    const { command, params } = request
    const runCommand = Object.hasOwn(commands, command) ? commands[command] : undefined
    if (runCommand === undefined)
      throw createInvalidError(
        `unknown command: ${command.slice(0, 80)}; known commands: ${Object.keys(commands).join(', ')}`,
      )
    return { result: await runCommand(isObject(params) ? params : {}, ctx) }
  } catch (error) {
    const causewayError = asCausewayError(error)
    if (causewayError.code === 'INTERNAL') ctx.log.error({ err: error }, 'a command failed')
    return { error: toLegacyError(causewayError), status: causewayError.definition.status }
  }
}

export const formatResponse = (response: LegacyResponse): string =>
  'result' in response ? `{"result":${response.result}}` : JSON.stringify({ error: response.error })

function toLegacyError(error: CausewayError): LegacyError {
  const details = toErrorObject(error)
  const hasMultiplePlots = error.code === 'MULTIPLE_PLOTS'
  const { status } = error.definition
  const { available_plots } = details.data
  return {
    message: error.message,
    code: hasMultiplePlots ? 'MULTIPLE_PLOTS' : status === 404 ? 404 : status < 500 ? 400 : 500,
    ...(hasMultiplePlots ? { available_plots } : {}),
    details,
  }
}

type Command = (params: JsonObject, ctx: LegacyContext) => Promise<string>

const callTool =
  (tool: string, createArgs: (params: JsonObject) => JsonObject, result: string | null = null): Command =>
  async (params, ctx) => {
    await ctx.call(tool, addFilename(params, createArgs(params)))
    return JSON.stringify(result)
  }

const callAndPickMember =
  (tool: string, name: string, createArgs: (params: JsonObject) => JsonObject = () => ({})): Command =>
  async (params, ctx) =>
    JSON.stringify((await ctx.call(tool, addFilename(params, createArgs(params))))[name] ?? null)

const ignoreMissing = (command: string, payload: unknown): JsonObject => ({
  command: { command, payload },
  ignore_missing: true,
})

const commands: Readonly<Record<string, Command>> = {
  get_feature_collection: async ({ filename }, ctx) =>
    (await (await findPlot(ctx, toText(filename))).read({ kind: 'collection' })).data,
  set_feature_collection: callTool('set_features', ({ featureCollection, data }) => ({
    featureCollection: featureCollection ?? data,
  })),
  get_selected_features: async ({ filename }, ctx) =>
    JSON.stringify((await (await findPlot(ctx, toText(filename))).read({ kind: 'selected' })).data),
  set_selected_features: callTool('apply_command', ({ ids }) =>
    ignoreMissing('setSelection', { selectedIds: ids }),
  ),
  update_features: callTool('apply_command', ({ features }) => ignoreMissing('updateFeatures', features)),
  add_features: callTool('add_features', ({ features }) => ({ features })),
  delete_features: callTool('delete_features', ({ ids }) => ({ ids, ignore_missing: true })),
  zoom_to_selection: callTool('zoom_to_selection', () => ({})),
  list_open_plots: async (_params, { store }) => JSON.stringify(store.list()),
  get_time: callAndPickMember('get_time', 'timeState'),
  set_time: callTool('set_time', ({ timeState }) => ({ timeState }), 'Time state updated successfully'),
  get_viewport: callAndPickMember('get_viewport', 'viewportState'),
  set_viewport: callTool(
    'set_viewport',
    ({ viewportState }) => ({ viewportState }),
    'Viewport state updated successfully',
  ),
  notify: callTool('notify', ({ message }) => ({ message })),
  apply_command: callAndPickMember('apply_command', 'message', ({ command }) => ({ command })),
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const addFilename = ({ filename }: JsonObject, args: JsonObject): JsonObject =>
  typeof filename === 'string' ? { ...args, filename } : args

const createInvalidError = (message: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', message, { remedy: 'send {"command": "<name>", "params": {…}}' })
