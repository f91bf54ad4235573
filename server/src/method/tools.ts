/** tools/list and tools/call. */

import { type App, type AppTool, type Ask, closest } from '@causeway/app-kit'
import {
  answerText,
  type CallToolResult,
  CausewayError,
  type ErrorObject,
  errorMetaKey,
  errorObject,
  isCausewayError,
  type Params,
} from '@causeway/protocol'
import type { Caller } from '../core.ts'
import { traceOf } from '../domain/trace.ts'
import { toolTask } from '../limit/task.ts'
import { pageOf } from '../page.ts'
import { cacheHints, type ToolEntry } from '../registry.ts'
import type { Method, MethodCall, MethodContext } from './method.ts'
import { text } from './params.ts'

/** The tools of a mount, a page at a time. */
export const listTools: Method = async ({ params, caller, lists }, { ttlMs, pageSize }) => {
  const { items, ...rest } = pageOf(lists.tools, {
    cursor: params.cursor,
    hash: lists.toolsHash,
    size: pageSize,
  })
  return { tools: items, ...rest, ...(caller.era === 'modern' ? cacheHints(ttlMs) : {}) }
}

/** Calls a tool. What the tool says, errors and questions included, is a result; only an unknown name is thrown. */
export const callTool: Method = async (call, context) => {
  const name = text(call.params, 'name')
  const entry = call.lists.toolByName.get(name)
  if (entry === undefined) throw unknownTool(name, call)
  const { arguments: args, _meta } = call.params
  return runTool(entry, args, { caller: withMeta(call.caller, _meta as Params | undefined) }, context)
}

/** The member of `_meta` by which a client says how many milliseconds it will wait. */
const deadlineKey = 'causeway/deadline_ms'

/** The caller with the shorter of its deadlines, and the trace that its message names where no header does. */
function withMeta(caller: Caller, { [deadlineKey]: ms, traceparent }: Params = {}): Caller {
  if (ms === undefined && traceparent === undefined) return caller
  const deadlineMs =
    typeof ms === 'number' && ms > 0 ? Math.min(ms, caller.deadlineMs ?? ms) : caller.deadlineMs
  return { ...caller, deadlineMs, trace: caller.trace ?? traceOf(traceparent) }
}

/** Runs a tool that was found; a failure becomes an answer with `isError`. */
export async function runTool(
  { hosted, tool }: ToolEntry,
  args: unknown,
  { caller }: Pick<MethodCall, 'caller'>,
  { scope }: Pick<MethodContext, 'scope'>,
): Promise<CallToolResult | Ask> {
  try {
    return await scope.run(hosted, caller, toolTask(tool, args), (ctx) => tool.call(args, ctx))
  } catch (error) {
    if (isCausewayError(error)) return failed(errorObject(error), hosted.app, tool)
    throw error
  }
}

/**
 * A failed call as an answer, with the body of the app's own design where there is one. The object stands in `_meta`:
 * SDK clients validate `structuredContent` even of errors.
 */
function failed(error: ErrorObject, app: App, tool: AppTool): CallToolResult {
  const body = app.errorBody?.(error)
  return {
    content: [{ type: 'text', text: body === undefined ? answerText(error) : JSON.stringify(body) }],
    ...(body !== undefined && tool.fits?.(body) === true ? { structuredContent: body } : {}),
    isError: true,
    _meta: { [errorMetaKey]: error },
  }
}

function unknownTool(name: string, { lists }: MethodCall): CausewayError {
  const meant = closest(name, [...lists.toolByName.keys()])
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}${hint}`, {
    data: meant === undefined ? { name } : { name, did_you_mean: meant },
  })
}
