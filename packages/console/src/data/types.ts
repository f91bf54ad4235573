/** An app in the result of `GET /api/apps`. */
export interface AppSummary {
  readonly name: string
  readonly about: string
  readonly href: string
  readonly tools: readonly {
    readonly name: string
    readonly about: string
    /** Whether clients can call the tool although it is not listed, for example by an older name. */
    readonly unlisted?: boolean
  }[]
}

/** The result of `GET /api/apps/<app>`. */
export interface AppDetails {
  readonly name: string
  readonly about: string
  readonly mcp: string
  readonly tools: readonly ToolDetails[]
}

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

/** The part of `GET /health`'s result that the console shows. */
export interface Health {
  readonly status: string
  readonly version: string
  readonly uptime_s: number
  readonly memory: { readonly status: string; readonly used_bytes: number; readonly limit_bytes: number }
  readonly storage: { readonly status: string; readonly free_bytes?: number }
  readonly audit: Readonly<Record<string, number>>
  /** Absent if nothing is captured. */
  readonly capture?: CaptureState
  readonly apps: Readonly<Record<string, AppState>>
}

export interface AppState {
  readonly status: string
  readonly tools?: number
  readonly reason?: string
  readonly message?: string
  readonly remedy?: string
  /** State of the processes of a hosted server, as in `GET /api/hosted`. */
  readonly state?: string
  readonly last_error?: { readonly code: string; readonly message: string }
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
    readonly trace_id?: string
    readonly request_id: string
    readonly subject?: string
    readonly request_bytes?: number
    readonly answer_chars?: number
  }
}

export interface CallRecord extends AuditRecord {
  /** Path of the page that shows what the call was about. */
  readonly view?: string
}

export interface ErrorGroup {
  readonly code: string
  readonly app: string
  readonly tool: string
  readonly message: string
  readonly count: number
  readonly clients: number
  readonly first: string
  readonly last: string
  readonly request_id: string
}

/** The result of `GET /calls/errors`. */
export interface ErrorGroups {
  readonly groups: readonly ErrorGroup[]
  readonly examined: number
  readonly is_complete: boolean
  readonly since: string | null
}

/** The result of `GET /sessions`. */
export interface SessionList {
  readonly sessions: readonly {
    readonly session: string
    readonly client: string
    readonly client_version: string
    readonly channel: string
    readonly first_ms: number
    readonly last_ms: number
    readonly calls: number
    readonly errors: number
    readonly last_tool: string
  }[]
  readonly open: readonly {
    readonly session: string
    readonly client: string
    readonly client_version: string
    readonly protocol_version: string
    readonly mount: string
    readonly open_streams: number
  }[]
}

export interface CaptureState {
  readonly session: string
  /** Unix time in milliseconds. */
  readonly until_ms: number
  readonly calls: number
}

/** A captured JSON value. `value` is absent if it was too long. */
export interface CapturedJson {
  readonly chars: number
  readonly value?: unknown
}

/** The result of `GET /capture/calls/{request}`. */
export interface CapturedCall {
  readonly call: { readonly arguments: CapturedJson; readonly answer: CapturedJson } | null
}

/** Figures of the process in one interval of 5 s. */
export interface HealthSample {
  readonly at_ms: number
  readonly delay_ms: number
  readonly busy_percent: number
  readonly memory_bytes: number
  readonly calls: number
  readonly errors: number
}

/** The result of `GET /figures`. */
export interface Figures {
  readonly samples: readonly HealthSample[]
  readonly stores: readonly {
    readonly app: string
    readonly path: string
    readonly size_bytes: number
    readonly wal_bytes: number
  }[]
}

export interface LogLine {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly request_id?: string
  readonly [field: string]: unknown
}

export interface AuditPage {
  readonly entries: readonly AuditRecord[]
  readonly next_before: number | null
}

export interface HostedServer {
  readonly name: string
  readonly app: string
  readonly state: string
  readonly share: string
  readonly kind: string
  readonly instances: readonly {
    readonly state: string
    readonly pid?: number
    readonly memory_bytes?: number
    readonly for_ms: number
    readonly in_flight: number
    readonly project?: string
  }[]
  readonly last_error?: { readonly code: string; readonly message: string; readonly stderr?: unknown }
  readonly calls: number
  readonly errors: number
  readonly starts: number
  readonly tools: number
  readonly prompts: number
  readonly resources: number
  readonly templates: number
  readonly changed: number
  readonly protocol_version?: string
}

/** The result of `GET /api/hosted`. */
export interface HostedServers {
  readonly servers: readonly HostedServer[]
  /** Entries of mcp.json that are not used. A problem without a name concerns the current file as a whole. */
  readonly problems: readonly { readonly name?: string; readonly code: string; readonly message: string }[]
}

export interface DefinitionChange {
  readonly kind: string
  /** Empty for instructions. */
  readonly name: string
  /** Absent for a new definition. */
  readonly approved?: Readonly<Record<string, unknown>>
  readonly current: Readonly<Record<string, unknown>>
}
