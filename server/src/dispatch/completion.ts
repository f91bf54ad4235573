import type { AppResource, Completion, ToolContext, Variables } from '@causeway/app-kit'
import { CausewayError, type Params } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { type Method, type MethodCall, requireObject, requireString } from './method.ts'
import { createMethodOperation } from './operation.ts'
import { findPrompt } from './prompts.ts'

const maxValues = 100

interface Completer {
  readonly instance: AppInstance
  values(ctx: ToolContext): Promise<readonly string[] | Completion>
}

/** `total` counts all values with the prefix. */
export const complete: Method = async (call, { runner }) => {
  const argument = requireObject(call.params, 'argument')
  const typed = requireString(argument, 'value')
  const { instance, values } = findCompleter(call, requireString(argument, 'name'), typed)
  const operation = createMethodOperation('completion/complete')
  const allValues = await runner.run({ instance, caller: call.caller, operation }, values)
  if (isFinal(allValues))
    return { completion: { ...allValues, values: allValues.values.slice(0, maxValues) } }
  const prefix = typed.toLowerCase()
  const matches = allValues.filter((value) => value.toLowerCase().startsWith(prefix))
  return {
    completion: {
      values: matches.slice(0, maxValues),
      total: matches.length,
      hasMore: matches.length > maxValues,
    },
  }
}

const isFinal = (values: readonly string[] | Completion): values is Completion => !Array.isArray(values)

function findCompleter(call: MethodCall, name: string, typed: string): Completer {
  const ref = requireObject(call.params, 'ref')
  const type = requireString(ref, 'type')
  if (type === 'ref/prompt') {
    const { instance, prompt } = findPrompt(call.lists, requireString(ref, 'name'))
    const knownVariables = getKnownVariables(call.params)
    const values = (ctx: ToolContext) =>
      prompt.completeTyped?.(name, typed, knownVariables, ctx) ?? prompt.complete(name, typed, ctx)
    return { instance, values }
  }
  if (type === 'ref/resource')
    return findTemplateCompleter(call, { template: requireString(ref, 'uri'), name, typed })
  throw new CausewayError('INVALID_PARAMS', `params.ref.type is neither ref/prompt nor ref/resource: ${type}`)
}

interface TemplateRequest {
  readonly template: string
  readonly name: string
  readonly typed: string
}

function findTemplateCompleter(call: MethodCall, request: TemplateRequest): Completer {
  const { template, name } = request
  const knownVariables = getKnownVariables(call.params)
  for (const instance of call.lists.instances) {
    const resource = instance.app.resources.find((candidate) => hasTemplate(candidate, template))
    if (resource === undefined) continue
    const values = (ctx: ToolContext) =>
      resource.completeTyped?.(request, knownVariables, ctx) ?? resource.complete(name, knownVariables, ctx)
    return { instance, values }
  }
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource template: ${template}`, {
    data: { uri: template },
  })
}

const hasTemplate = ({ template, templates }: AppResource, text: string): boolean =>
  templates === undefined ? template.text === text : templates.some(({ uriTemplate }) => uriTemplate === text)

function getKnownVariables({ context }: Params): Variables {
  const knownArguments = (context as { arguments?: unknown } | undefined)?.arguments
  return typeof knownArguments === 'object' && knownArguments !== null ? (knownArguments as Variables) : {}
}
