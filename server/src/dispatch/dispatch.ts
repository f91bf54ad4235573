import { CausewayError, type Params } from '@causeway/protocol'
import type { Caller } from './caller.ts'
import { complete } from './completion.ts'
import type { Method, MethodContext } from './method.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { callTool, listTools } from './tools.ts'

const returnEmptyResult: Method = async () => ({})

/** Transports handle handshakes, subscriptions and cancellation. */
const methods: Readonly<Record<string, Method>> = Object.freeze({
  ping: returnEmptyResult,
  // Transports filter log messages by this level.
  'logging/setLevel': returnEmptyResult,
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': readResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
})

export const methodNames: readonly string[] = Object.keys(methods)

export async function dispatch(
  context: MethodContext,
  method: string,
  params: Params,
  caller: Caller,
): Promise<unknown> {
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (handler === undefined)
    throw new CausewayError('METHOD_NOT_FOUND', `no such method: ${method}`, { data: { method } })
  return handler({ params, caller, lists: context.registry.getLists(caller.mount) }, context)
}
