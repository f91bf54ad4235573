import type { JsonObject, Prompt, Resource, Tool } from '@causeway/protocol'

export interface ResourceTemplate extends JsonObject {
  readonly uriTemplate: string
  readonly name: string
}

/** A definition as listed, with all members. */
export type ListedTool = Tool & JsonObject
export type ListedPrompt = Prompt & JsonObject
export type ListedResource = Resource & JsonObject

/** `modern`: MCP 2026-07-28; `legacy`: a version with `initialize`. */
export type UpstreamEra = 'modern' | 'legacy'

export interface ServerDescription {
  readonly era: UpstreamEra
  readonly version: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string
}

export interface Catalogue extends ServerDescription {
  readonly tools: readonly ListedTool[]
  readonly prompts: readonly ListedPrompt[]
  readonly resources: readonly ListedResource[]
  readonly templates: readonly ResourceTemplate[]
}
