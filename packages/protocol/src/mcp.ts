/** The shapes and names of the Model Context Protocol that both ends use; no behaviour. */
import type { Params } from './jsonrpc.ts'

/** Revisions that open with `initialize`, newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** The stateless revision: every message carries its own version (https://modelcontextprotocol.io/specification/2026-07-28). */
export const modernVersion = '2026-07-28'

/** Every revision that the server speaks, newest first. */
export const supportedVersions: readonly string[] = [modernVersion, ...legacyVersions]

/** HTTP header names, in the lower case in which Node gives them. */
export const headers = Object.freeze({
  protocolVersion: 'mcp-protocol-version',
  sessionId: 'mcp-session-id',
  method: 'mcp-method',
  name: 'mcp-name',
  /** One constant id for the life of a bridge or script: state that belongs to one client hangs on it. */
  causewaySession: 'causeway-session',
  /** Names one call for ever: a repeat gets the first answer. */
  causewayRequest: 'causeway-request',
  /** Milliseconds that the caller will wait at most. */
  causewayDeadline: 'causeway-deadline',
})

/** `_meta` keys of the stateless revision. */
export const meta = Object.freeze({
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
})

/** The protocol version that a message claims for itself, if it claims one. */
export function claimedVersion(message: unknown): string | undefined {
  const params = (message as { params?: { _meta?: Record<string, unknown> } } | null)?.params
  const version = params?._meta?.[meta.protocolVersion]
  return typeof version === 'string' ? version : undefined
}

/** Any JSON object that is a schema. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Hints about a tool's effects (MCP ToolAnnotations). */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A tool as `tools/list` gives it. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
}

/** One block of an answer's content. */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link'
      readonly uri: string
      readonly name: string
      readonly mimeType?: string
      readonly description?: string
    }
  | { readonly type: 'resource'; readonly resource: ResourceContents }

/** What `resources/read` gives for one URI: text, or bytes in Base64. */
export type ResourceContents =
  | { readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string; readonly blob: string }

/** The answer of `tools/call`. */
export interface CallToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Something that a server asks of its client: of the person, of the model, or of the workspace. */
export type InputRequest =
  | { readonly method: 'elicitation/create' | 'sampling/createMessage'; readonly params: Params }
  | { readonly method: 'roots/list'; readonly params?: Params }

/** How urgent a log message to a client is (RFC 5424), the least urgent first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** A resource as `resources/list` gives it. */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

/** A family of resources as `resources/templates/list` gives it. */
export interface ResourceTemplate {
  readonly uriTemplate: string
  readonly name: string
  readonly description?: string
  readonly mimeType?: string
}

/** A prompt as `prompts/list` gives it. */
export interface Prompt {
  readonly name: string
  readonly description?: string
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
  }[]
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: Content
}

/** Who is calling, as the client says itself. */
export interface ClientInfo {
  readonly name: string
  readonly version: string
}
