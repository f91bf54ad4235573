import { closest } from '@causeway/app-kit'
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
import { parseTrace } from '../audit/trace.ts'
import { cacheHints, type ToolEntry } from '../registry/mount-lists.ts'
import { paginate } from '../registry/page.ts'
import type { Caller } from './caller.ts'
import { type Method, type MethodCall, requireString } from './method.ts'

export const listTools: Method = async ({ params, caller, lists }, { registry }) => {
  const { items, ...rest } = paginate(lists.tools, {
    cursor: params.cursor,
    hash: lists.toolsHash,
    size: registry.pageSize,
  })
  return { tools: items, ...rest, ...(caller.era === 'modern' ? cacheHints(registry.ttlMs) : {}) }
}

/** Returns the tool's result, its questions, or its failure with `isError`. Throws `UNKNOWN_TOOL` and `INVALID_PARAMS`. */
export const callTool: Method = async (call, { runner }) => {
  const name = requireString(call.params, 'name')
  const entry = call.lists.toolByName.get(name)
  if (entry === undefined) throw unknownTool(name, call)
  const { arguments: args, _meta } = call.params
  try {
    return await runner.callTool(entry, args, applyMeta(call.caller, _meta as Params | undefined))
  } catch (error) {
    if (isCausewayError(error)) return toErrorResult(errorObject(error), entry)
    throw error
  }
}

const deadlineKey = 'causeway/deadline_ms'

/** Applies a shorter deadline, and the trace if no header contains one. */
function applyMeta(caller: Caller, { [deadlineKey]: ms, traceparent }: Params = {}): Caller {
  if (ms === undefined && traceparent === undefined) return caller
  const deadlineMs =
    typeof ms === 'number' && ms > 0 ? Math.min(ms, caller.deadlineMs ?? ms) : caller.deadlineMs
  return { ...caller, deadlineMs, trace: caller.trace ?? parseTrace(traceparent) }
}

/**
 * Uses the app's own error format, if it has one. The error object is in `_meta`: SDK clients validate `structuredContent`
 * of errors too.
 */
function toErrorResult(error: ErrorObject, { instance, tool }: ToolEntry): CallToolResult {
  const body = instance.app.errorBody?.(error)
  return {
    content: [{ type: 'text', text: body === undefined ? answerText(error) : JSON.stringify(body) }],
    ...(body !== undefined && tool.fits?.(body) === true ? { structuredContent: body } : {}),
    isError: true,
    _meta: { [errorMetaKey]: error },
  }
}

function unknownTool(name: string, { lists }: MethodCall): CausewayError {
  const suggestion = closest(name, [...lists.toolByName.keys()])
  const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
  return new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}${hint}`, {
    data: suggestion === undefined ? { name } : { name, did_you_mean: suggestion },
  })
}
