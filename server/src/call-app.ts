/** A call from one app to a tool of another: on the same road as a client's call, under the client's name. */
import type { App, CallContext } from '@causeway/app-kit'
import { type CallToolResult, CausewayError, pathName } from '@causeway/protocol'
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

/** The data of the answer; throws `UNKNOWN_TOOL` or what the tool throws. */
export async function callApp(
  { registry, scope, from, app, tool }: AppCall,
  args: unknown,
  { client, requestId, signal, progress, notify }: CallContext,
): Promise<unknown> {
  const entry = registry.lists(bareMount(pathName(app)).path)?.toolByName.get(tool)
  if (entry === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${app} ${tool}`)
  const caller = {
    mount: sharedMount,
    era: 'modern' as const,
    sessionKey: `app-${pathName(from.name)}`,
    sharedSession: false,
    client,
    requestId: `${requestId}/${app}.${tool}`,
    signal,
    progress,
    notify,
  }
  const answer = await scope.run(entry.hosted, caller, tool, (ctx) => entry.tool.call(args, ctx))
  return (answer as CallToolResult).structuredContent // without `input`, questions are refused
}
