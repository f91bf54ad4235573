export type Endpoint = StdioEndpoint | HttpEndpoint

export interface StdioEndpoint {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface HttpEndpoint {
  /** `sse` is the transport of 2024-11-05. */
  readonly kind: 'http' | 'sse'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}
