import type { Params } from './jsonrpc.ts'

/** MCP revisions with `initialize`, newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** The stateless revision (https://modelcontextprotocol.io/specification/2026-07-28). */
export const modernVersion = '2026-07-28'

export const supportedVersions: readonly string[] = [modernVersion, ...legacyVersions]

export const headers = Object.freeze({
  protocolVersion: 'mcp-protocol-version',
  sessionId: 'mcp-session-id',
  method: 'mcp-method',
  name: 'mcp-name',
  causewaySession: 'causeway-session',
  /** Request id. A repeated request gets the first response. */
  causewayRequest: 'causeway-request',
  /** The client's folder, percent-encoded. */
  causewayProject: 'causeway-project',
  /** Maximum duration of the call in milliseconds. */
  causewayDeadline: 'causeway-deadline',
})

/** Keys of `_meta` in the stateless revision. */
export const meta = Object.freeze({
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
})

export function readClaimedVersion(message: unknown): string | undefined {
  const params = (message as { params?: { _meta?: Record<string, unknown> } } | null)?.params
  const version = params?._meta?.[meta.protocolVersion]
  return typeof version === 'string' ? version : undefined
}

export type JsonSchema = Readonly<Record<string, unknown>>

export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly _meta?: Readonly<Record<string, unknown>>
}

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

export type ResourceContents = {
  readonly uri: string
  readonly mimeType?: string
  readonly _meta?: Readonly<Record<string, unknown>>
} & ({ readonly text: string } | { readonly blob: string })

/** Key of `structuredContent` as JSON, which avoids a second serialization. Never sent. */
export const structuredJson: unique symbol = Symbol.for('causeway.structuredJson')

export interface CallToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly [structuredJson]?: string
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type InputRequest =
  | { readonly method: 'elicitation/create' | 'sampling/createMessage'; readonly params: Params }
  | { readonly method: 'roots/list'; readonly params?: Params }

/** Severities of RFC 5424, lowest first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

export interface Resource {
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

export interface Prompt {
  readonly name: string
  readonly description?: string
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
  }[]
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: Content
}

export interface ClientInfo {
  readonly name: string
  readonly version: string
}
