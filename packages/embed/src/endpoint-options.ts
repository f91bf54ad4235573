/** Which endpoint, which model. */
export interface EndpointOptions {
  /** `https://api.openai.com/v1`, without `/embeddings` */
  readonly baseUrl: string
  readonly model: string
  /** Components of each vector; an answer with another number is refused. */
  readonly dimensions: number
  /** Asks the endpoint for this many, for models that can shorten their vectors. */
  readonly requestDimensions?: boolean
  /** Sent as bearer token, never logged and in no message. */
  readonly apiKey?: string | undefined
  /** One attempt, ms; default 30 000. */
  readonly timeoutMs?: number
  /** Attempts for an answer that may come later: no connection, 408, 429, 5xx. Default 3. */
  readonly tries?: number
  /** Pauses between attempts; a test puts a clock of its own here. */
  readonly pause?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}
