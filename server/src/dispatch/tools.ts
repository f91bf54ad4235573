import {
  type CallToolResult,
  type ErrorObject,
  errorMetaKey,
  formatAnswerText,
  isCausewayError,
  type Params,
  toErrorObject,
} from '@causeway/protocol'
import { parseTrace } from '../audit/trace.ts'
import type { ToolEntry } from '../registry/mount.ts'
import { createCacheHints } from '../registry/mount-lists.ts'
import { paginate } from '../registry/page.ts'
import type { Caller } from './caller.ts'
import { type Method, requireString } from './method.ts'
import { createUnknownToolError, resolveCall } from './resolve-call.ts'

export const listTools: Method = async ({ params, caller, lists }, { registry }) => {
  const page = paginate('tools', lists.tools, {
    cursor: params.cursor,
    hash: lists.toolsHash,
    size: registry.pageSize,
  })
  return { ...page, ...(caller.era === 'modern' ? createCacheHints(registry.ttlMs) : {}) }
}

const upstreamError = 'UPSTREAM_ERROR'

/** Returns the result, questions, or a failure with `isError`. Throws `UNKNOWN_TOOL` and `INVALID_PARAMS`. */
export const callTool: Method = async ({ params, caller, lists }, { registry, runner }) => {
  const name = requireString(params, 'name')
  const namedEntry = lists.toolByName.get(name)
  if (namedEntry === undefined) throw createUnknownToolError(name, lists.toolByName.keys())
  let calledEntry = namedEntry
  try {
    const { entry, args } = resolveCall(registry, namedEntry, params.arguments)
    calledEntry = entry
    return await runner.callTool(entry, args, applyMeta(caller, params._meta as Params | undefined))
  } catch (error) {
    // `UPSTREAM_ERROR` is a protocol error: the hosted server did not run a tool.
    if (isCausewayError(error) && error.code !== upstreamError)
      return toErrorResult(toErrorObject(error), calledEntry)
    throw error
  }
}

const deadlineKey = 'causeway/deadline_ms'

/** A `traceparent` header takes precedence over `_meta`. */
function applyMeta(caller: Caller, { [deadlineKey]: ms, traceparent }: Params = {}): Caller {
  if (ms === undefined && traceparent === undefined) return caller
  const deadlineMs =
    typeof ms === 'number' && ms > 0 ? Math.min(ms, caller.deadlineMs ?? ms) : caller.deadlineMs
  return { ...caller, deadlineMs, trace: caller.trace ?? parseTrace(traceparent) }
}

/**
 * Uses the app's own format, if any. The error object is in `_meta`, because SDK clients validate even the
 * `structuredContent` of errors.
 */
function toErrorResult(error: ErrorObject, { instance, tool }: ToolEntry): CallToolResult {
  const body = instance.app.errorBody?.(error)
  return {
    content: [{ type: 'text', text: body === undefined ? formatAnswerText(error) : JSON.stringify(body) }],
    ...(body !== undefined && (tool.acceptsOutput ?? tool.fits)?.(body) === true
      ? { structuredContent: body }
      : {}),
    isError: true,
    _meta: { [errorMetaKey]: error },
  }
}
