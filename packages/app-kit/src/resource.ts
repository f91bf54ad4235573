import type { Resource, ResourceContents } from '@causeway/protocol'
import type { Ask } from './ask.ts'
import type { ToolContext } from './context.ts'
import type { Completion } from './prompt.ts'
import { replaceNonFinite } from './result.ts'
import { type UriTemplate, uriTemplate, type Variables } from './uri-template.ts'

type ResourceBody = { readonly json: unknown } | { readonly text: string } | { readonly bytes: Uint8Array }

/** A resource or, if its URI has variables, a template. */
export interface ResourceDeclaration<Store, Session> {
  readonly name: string
  readonly about: string
  /** Default: `application/json`. */
  readonly mimeType?: string
  /** Returns a template's resources. Default: only the template is listed. */
  list?(ctx: ToolContext<Store, Session>): Promise<readonly Pick<Resource, 'uri' | 'name' | 'description'>[]>
  /** Suggests values of a variable. The server selects those that start with the typed text. */
  readonly complete?: Readonly<
    Record<string, (chosen: Variables, ctx: ToolContext<Store, Session>) => Promise<readonly string[]>>
  >
  /** Throws `RESOURCE_NOT_FOUND` or an error of the app. */
  read(variables: Variables, ctx: ToolContext<Store, Session>): Promise<ResourceBody>
}

export interface AppResource extends Pick<ResourceDeclaration<unknown, unknown>, 'name' | 'about'> {
  readonly template: UriTemplate
  /** Templates to list instead of `template`. */
  readonly templates?: readonly ListedTemplate[]
  readonly mimeType: string
  list(ctx: ToolContext): Promise<readonly Resource[]>
  complete(variable: string, chosen: Variables, ctx: ToolContext): Promise<readonly string[]>
  read(uri: string, variables: Variables, ctx: ToolContext): Promise<ResourceContents>
  /** Replaces `read` for a resource that has several contents or first asks the client. */
  readAll?(uri: string, variables: Variables, ctx: ToolContext): Promise<readonly ResourceContents[] | Ask>
  /** Replaces `complete`. The server does not filter these values. */
  completeTyped?(
    variable: { readonly template: string; readonly name: string; readonly typed: string },
    chosen: Variables,
    ctx: ToolContext,
  ): Promise<Completion>
  /** Reports updates with `Env.changed` until the returned function is called. */
  subscribe?(uri: string, origin: CallOrigin): () => void
}

export interface ListedTemplate {
  readonly uriTemplate: string
  readonly name: string
}

export type CallOrigin = Pick<ToolContext, 'clientKey' | 'sharedSession' | 'project' | 'input'>

export function makeResource<Store, Session>(
  uri: string,
  declaration: ResourceDeclaration<Store, Session>,
): AppResource {
  const template = uriTemplate(uri)
  const { name, about, mimeType = 'application/json' } = declaration
  const toTypedContext = (ctx: ToolContext): ToolContext<Store, Session> => ctx as ToolContext<Store, Session>
  return {
    template,
    name,
    about,
    mimeType,
    async list(ctx) {
      if (declaration.list === undefined)
        return template.variables.length > 0 ? [] : [{ uri, name, description: about, mimeType }]
      const resources = await declaration.list(toTypedContext(ctx))
      return resources.map((resource) => ({ mimeType, ...resource }))
    },
    complete: async (variable, chosen, ctx) =>
      (await declaration.complete?.[variable]?.(chosen, toTypedContext(ctx))) ?? [],
    async read(uri, variables, ctx) {
      const body = await declaration.read(variables, toTypedContext(ctx))
      if ('bytes' in body) return { uri, mimeType, blob: Buffer.from(body.bytes).toString('base64') }
      return { uri, mimeType, text: 'text' in body ? body.text : JSON.stringify(replaceNonFinite(body.json)) }
    },
  }
}
