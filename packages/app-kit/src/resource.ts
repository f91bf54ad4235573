/** A resource or a family of resources: something to read by URI. */
import type { Resource, ResourceContents } from '@causeway/protocol'
import type { ToolContext } from './context.ts'
import { finite } from './finite.ts'
import { type UriTemplate, uriTemplate, type Variables } from './uri-template.ts'

/** What a read gives: data (sent as JSON), text or bytes. */
export type ResourceBody =
  | { readonly json: unknown }
  | { readonly text: string }
  | { readonly bytes: Uint8Array }

/** The declaration of a resource; with variables in its URI it is a family. */
export interface ResourceDeclaration<Store, Session> {
  /** A short name for lists. */
  readonly name: string
  readonly about: string
  /** Defaults to `application/json`. */
  readonly mimeType?: string
  /** The members worth listing; a family without it is listed as a template only. */
  list?(ctx: ToolContext<Store, Session>): Promise<readonly Pick<Resource, 'uri' | 'name' | 'description'>[]>
  /** Values that a variable can take, for completion; the host keeps those that begin with what was typed. */
  readonly complete?: Readonly<
    Record<string, (chosen: Variables, ctx: ToolContext<Store, Session>) => Promise<readonly string[]>>
  >
  /** Throws `RESOURCE_NOT_FOUND` or a code of the app. */
  read(variables: Variables, ctx: ToolContext<Store, Session>): Promise<ResourceBody>
}

/** A resource as the host knows it, its types erased. */
export interface AppResource {
  readonly template: UriTemplate
  readonly name: string
  readonly about: string
  readonly mimeType: string
  list(ctx: ToolContext): Promise<readonly Resource[]>
  complete(variable: string, chosen: Variables, ctx: ToolContext): Promise<readonly string[]>
  read(uri: string, variables: Variables, ctx: ToolContext): Promise<ResourceContents>
}

/** Makes a resource of its declaration; throws `INVALID_APP` for a URI without a scheme. */
export function makeResource<Store, Session>(
  uri: string,
  declaration: ResourceDeclaration<Store, Session>,
): AppResource {
  const template = uriTemplate(uri)
  const { name, about, mimeType = 'application/json' } = declaration
  const typed = (ctx: ToolContext): ToolContext<Store, Session> => ctx as ToolContext<Store, Session>
  return {
    template,
    name,
    about,
    mimeType,
    async list(ctx) {
      if (declaration.list === undefined)
        return template.variables.length > 0 ? [] : [{ uri, name, description: about, mimeType }]
      const listed = await declaration.list(typed(ctx))
      return listed.map((resource) => ({ mimeType, ...resource }))
    },
    complete: async (variable, chosen, ctx) =>
      (await declaration.complete?.[variable]?.(chosen, typed(ctx))) ?? [],
    read: async (asked, variables, ctx) =>
      contents(asked, mimeType, await declaration.read(variables, typed(ctx))),
  }
}

function contents(uri: string, mimeType: string, body: ResourceBody): ResourceContents {
  if ('bytes' in body) return { uri, mimeType, blob: Buffer.from(body.bytes).toString('base64') }
  if ('text' in body) return { uri, mimeType, text: body.text }
  return { uri, mimeType, text: JSON.stringify(finite(body.json)) }
}
