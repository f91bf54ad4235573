/** A session without its id, which is a secret. */
export interface OpenSession {
  readonly session: string
  readonly client: string
  readonly client_version: string
  readonly protocol_version: string
  readonly mount: string
  readonly open_streams: number
}

export interface OpenSessions {
  list(): readonly OpenSession[]
  end(session: string): Promise<boolean>
}
