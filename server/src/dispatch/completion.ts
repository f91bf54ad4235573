import type { ToolContext, Variables } from '@causeway/app-kit'
import { CausewayError, type Params } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { type Method, type MethodCall, requireObject, requireString } from './method.ts'
import { methodOperation } from './operation.ts'
import { findPrompt } from './prompts.ts'

/** Limit of the MCP specification. */
const maxValues = 100

interface Completer {
  readonly instance: AppInstance
  values(ctx: ToolContext): Promise<readonly string[]>
}

/** Completes an argument of a prompt or a variable of a resource template; `total` counts all values with the prefix. */
export const complete: Method = async (call, { runner }) => {
  const argument = requireObject(call.params, 'argument')
  const typed = requireString(argument, 'value')
  const { instance, values } = findCompleter(call, requireString(argument, 'name'), typed)
  const operation = methodOperation('completion/complete')
  const all = await runner.run({ instance, caller: call.caller, operation }, values)
  const prefix = typed.toLowerCase()
  const matches = all.filter((value) => value.toLowerCase().startsWith(prefix))
  return {
    completion: {
      values: matches.slice(0, maxValues),
      total: matches.length,
      hasMore: matches.length > maxValues,
    },
  }
}

function findCompleter(call: MethodCall, name: string, typed: string): Completer {
  const ref = requireObject(call.params, 'ref')
  const type = requireString(ref, 'type')
  if (type === 'ref/prompt') {
    const { instance, prompt } = findPrompt(call.lists, requireString(ref, 'name'))
    return { instance, values: (ctx) => prompt.complete(name, typed, ctx) }
  }
  if (type === 'ref/resource') return findTemplateCompleter(call, requireString(ref, 'uri'), name)
  throw new CausewayError('INVALID_PARAMS', `params.ref.type is neither ref/prompt nor ref/resource: ${type}`)
}

function findTemplateCompleter(call: MethodCall, uri: string, name: string): Completer {
  for (const instance of call.lists.instances) {
    const resource = instance.app.resources.find(({ template }) => template.text === uri)
    if (resource !== undefined)
      return { instance, values: (ctx) => resource.complete(name, getKnownVariables(call.params), ctx) }
  }
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource template: ${uri}`, { data: { uri } })
}

/** Returns the variables that the client has already completed. */
function getKnownVariables({ context }: Params): Variables {
  const known = (context as { arguments?: unknown } | undefined)?.arguments
  return typeof known === 'object' && known !== null ? (known as Variables) : {}
}
