/** What `GET /api/apps` returns for each app. */
export interface AppSummary {
  readonly name: string
  readonly about: string
  readonly href: string
  readonly tools: readonly { readonly name: string; readonly about: string }[]
}

/** What `GET /api/apps/<app>` returns. */
export interface AppDetails {
  readonly name: string
  readonly about: string
  readonly mcp: string
  readonly tools: readonly ToolDetails[]
}

/** A tool as `GET /api/apps/<app>` describes it. */
export interface ToolDetails {
  readonly name: string
  readonly about: string
  readonly href: string
  readonly input_schema: Schema
  readonly output_schema?: Schema
  readonly example: Readonly<Record<string, unknown>>
  readonly read_only?: boolean
  readonly destructive?: boolean
}

/** The part of JSON Schema 2020-12 that input schemas of tools use. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema | boolean
  readonly prefixItems?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly format?: string
  readonly additionalProperties?: Schema | boolean
}

/** What `GET /health` returns, as far as the console shows it. */
export interface Health {
  readonly status: string
  readonly version: string
  readonly uptime_s: number
  readonly memory: { readonly status: string; readonly used_bytes: number; readonly limit_bytes: number }
  readonly storage: { readonly status: string; readonly free_bytes?: number }
  readonly audit: Readonly<Record<string, number>>
  readonly apps: Readonly<Record<string, AppState>>
}

/** The health of one app. */
export interface AppState {
  readonly status: string
  /** Number of listed tools. Older names of tools are callable, but not listed. */
  readonly tools?: number
  readonly reason?: string
  readonly message?: string
  readonly remedy?: string
  readonly [more: string]: unknown
}

/** A finished call, as `query_audit` returns it. */
export interface AuditRecord {
  readonly timestamp: string
  readonly level: string
  readonly service: string
  readonly toolName: string
  readonly duration: number
  readonly success: boolean
  readonly error?: { readonly code: string; readonly message: string }
  readonly metadata: {
    readonly app: string
    readonly channel: string
    readonly client: string
    readonly client_version: string
    readonly session: string
    readonly request_id: string
    readonly subject?: string
    readonly request_bytes?: number
    readonly answer_chars?: number
  }
}

/** A page of the audit, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditRecord[]
  readonly next_before: number | null
}
