/** Calls that apps make: of another app's tool, or of their own for a client of their routes and sockets. */
import type { App, CallContext, ChannelContext } from '@causeway/app-kit'
import { type CallToolResult, CausewayError, pathName } from '@causeway/protocol'
import type { Caller } from './core.ts'
import { traceOf } from './domain/trace.ts'
import type { Hosted } from './host.ts'
import { toolTask } from './limit/task.ts'
import { bareMount, sharedMount } from './mount.ts'
import type { Registry } from './registry.ts'
import type { Scope } from './scope.ts'

/** Which app calls which tool. */
export interface AppCall {
  readonly registry: Registry
  readonly scope: Scope
  readonly from: App
  readonly app: string
  readonly tool: string
}

/** On the same road as a client's call, under the client's name. The data of the answer; throws `UNKNOWN_TOOL` or what the tool throws. */
export async function callApp(
  { registry, scope, from, app, tool }: AppCall,
  args: unknown,
  { client, clientKey, requestId, signal, progress, notify, traceparent }: CallContext,
): Promise<unknown> {
  const entry = registry.lists(bareMount(pathName(app)).path)?.toolByName.get(tool)
  if (entry === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${app} ${tool}`)
  const caller: Caller = {
    mount: sharedMount,
    era: 'modern',
    channel: 'app',
    clientKey,
    trace: traceOf(traceparent),
    sessionKey: `app-${pathName(from.name)}`,
    sharedSession: false,
    client,
    requestId: `${requestId}/${app}.${tool}`,
    signal,
    progress,
    notify,
  }
  const answer = await scope.run(entry.hosted, caller, toolTask(entry.tool, args), (ctx) =>
    entry.tool.call(args, ctx),
  )
  return (answer as CallToolResult).structuredContent // without `input`, questions are refused
}

/** Who calls the tools of its own app. */
export interface OwnCall {
  readonly registry: Registry
  readonly scope: Scope
  readonly hosted: Hosted
  readonly caller: Caller
}

/** Calls by a route or a socket: the client's own calls, each under a request id of its own. */
export function ownCalls({ registry, scope, hosted, caller }: OwnCall): ChannelContext['call'] {
  let calls = 0
  return async (tool, args) => {
    const { app, path } = hosted
    const entry = registry.lists(bareMount(path).path)?.toolByName.get(tool)
    if (entry === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${app.name} ${tool}`)
    const requestId = `${caller.requestId}/${++calls}`
    const task = toolTask(entry.tool, args)
    const answer = await scope.run(entry.hosted, { ...caller, requestId }, task, (ctx) =>
      entry.tool.call(args, ctx),
    )
    return (answer as CallToolResult).structuredContent ?? {} // without `input`, questions are refused
  }
}
