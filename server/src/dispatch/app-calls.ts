import type { App, CallContext, ChannelContext } from '@causeway/app-kit'
import { type CallToolResult, CausewayError, pathName } from '@causeway/protocol'
import { parseTrace } from '../audit/trace.ts'
import type { AppInstance } from '../host/app-host.ts'
import { sharedMount } from '../registry/mount.ts'
import type { Caller } from './caller.ts'
import type { MethodContext } from './method.ts'
import { resolveCall } from './resolve-call.ts'

interface ToolCall {
  readonly app: string
  readonly tool: string
  readonly args: unknown
}

/** Returns the result's structured content. Throws the errors of `runAppTool`. */
export async function callOtherApp(
  services: MethodContext,
  from: App,
  call: ToolCall,
  { client, clientKey, requestId, signal, progress, notify, traceparent }: CallContext,
): Promise<unknown> {
  const { structuredContent } = await runAppTool(services, call, {
    mount: sharedMount,
    era: 'modern',
    channel: 'app',
    clientKey,
    trace: parseTrace(traceparent),
    sessionKey: `app-${pathName(from.name)}`,
    sharedSession: false,
    client,
    requestId: `${requestId}/${call.app}.${call.tool}`,
    cancellation: { signal },
    progress,
    notify,
  })
  return structuredContent
}

/** Each call of the route or socket has its own request id. */
export function createOwnToolCaller(
  services: MethodContext,
  { app }: AppInstance,
  caller: Caller,
): ChannelContext['call'] {
  let calls = 0
  return async (tool, args) => {
    calls += 1
    const requestId = `${caller.requestId}/${calls}`
    const call = { app: app.name, tool, args }
    const { structuredContent = {} } = await runAppTool(services, call, { ...caller, requestId })
    return structuredContent
  }
}

/** Throws `UNKNOWN_TOOL` and the tool's error. */
export async function runAppTool(
  { registry, runner }: MethodContext,
  { app, tool, args }: ToolCall,
  caller: Caller,
): Promise<CallToolResult> {
  const entry = registry.findAppTool(app, tool)
  if (entry === undefined)
    throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${app} ${tool}`, { data: { app, tool } })
  const resolvedCall = resolveCall(registry, entry, args)
  const result = await runner.callTool(resolvedCall.entry, resolvedCall.args, caller)
  return result as CallToolResult // a caller without `input` cannot be asked
}
