/** One MCP method to its handler: the way that every message takes, whatever the channel. */
import { CausewayError, type Params } from '@causeway/protocol'
import type { Caller } from './core.ts'
import { complete } from './method/completion.ts'
import type { Method, MethodContext } from './method/method.ts'
import { getPrompt, listPrompts } from './method/prompts.ts'
import { listResources, listTemplates, readResource } from './method/resources.ts'
import { callTool, listTools } from './method/tools.ts'

const empty: Method = async () => ({})

/** Every method that is answered here; handshakes, subscriptions and cancellation belong to the channels. */
const methods: Readonly<Record<string, Method>> = Object.freeze({
  ping: empty,
  // The level is the channel's filter of log messages; it is accepted here so that every leg answers alike.
  'logging/setLevel': empty,
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': readResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
})

/** The names of the methods that `dispatch` answers. */
export const methodNames: readonly string[] = Object.keys(methods)

/** Answers one method; throws a `CausewayError` for what the caller can mend, and defects as they come. */
export async function dispatch(
  context: MethodContext,
  method: string,
  params: Params,
  caller: Caller,
): Promise<unknown> {
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (handler === undefined)
    throw new CausewayError('METHOD_NOT_FOUND', `no such method: ${method}`, { data: { method } })
  const lists = context.registry.lists(caller.mount.path)
  if (lists === undefined)
    throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${caller.mount.path}`)
  return handler({ params, caller, lists }, context)
}
