/** completion/complete: values for a prompt's argument or a template's variable. */
import type { ToolContext, Variables } from '@causeway/app-kit'
import { CausewayError, type Params } from '@causeway/protocol'
import type { Hosted } from '../host.ts'
import { methodTask } from '../limit/task.ts'
import type { Method, MethodCall } from './method.ts'
import { object, text } from './params.ts'
import { findPrompt } from './prompts.ts'

/** The protocol's own limit on the number of values. */
const mostValues = 100

interface Completer {
  readonly hosted: Hosted
  values(ctx: ToolContext): Promise<readonly string[]>
}

/** Values that begin with what was typed, at most a hundred, with the number that there are. */
export const complete: Method = async (call, { scope }) => {
  const argument = object(call.params, 'argument')
  const typed = text(argument, 'value')
  const { hosted, values } = completer(call, text(argument, 'name'), typed)
  const all = await scope.run(hosted, call.caller, methodTask('completion/complete'), values)
  const prefix = typed.toLowerCase()
  const fitting = all.filter((value) => value.toLowerCase().startsWith(prefix))
  return {
    completion: {
      values: fitting.slice(0, mostValues),
      total: fitting.length,
      hasMore: fitting.length > mostValues,
    },
  }
}

function completer(call: MethodCall, name: string, typed: string): Completer {
  const ref = object(call.params, 'ref')
  const type = text(ref, 'type')
  if (type === 'ref/prompt') {
    const { hosted, prompt } = findPrompt(call.lists, text(ref, 'name'))
    return { hosted, values: (ctx) => prompt.complete(name, typed, ctx) }
  }
  if (type === 'ref/resource') return templateCompleter(call, text(ref, 'uri'), name)
  throw new CausewayError('INVALID_PARAMS', `params.ref.type is neither ref/prompt nor ref/resource: ${type}`)
}

function templateCompleter(call: MethodCall, uri: string, name: string): Completer {
  for (const hosted of call.lists.hosted) {
    const resource = hosted.app.resources.find(({ template }) => template.text === uri)
    if (resource !== undefined)
      return { hosted, values: (ctx) => resource.complete(name, chosen(call.params), ctx) }
  }
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource template: ${uri}`, { data: { uri } })
}

/** The variables that the client has filled in already. */
function chosen({ context }: Params): Variables {
  const given = (context as { arguments?: unknown } | undefined)?.arguments
  return typeof given === 'object' && given !== null ? (given as Variables) : {}
}
