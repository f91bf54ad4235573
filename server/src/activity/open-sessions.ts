/** An open session, without its id, which is a secret. */
export interface OpenSession {
  /** Digest of the session key. */
  readonly session: string
  readonly client: string
  readonly client_version: string
  readonly protocol_version: string
  readonly mount: string
  readonly open_streams: number
}

/** The open sessions of a transport. */
export interface OpenSessions {
  list(): readonly OpenSession[]
  /** Ends a session for good. Returns whether it was open. */
  end(session: string): Promise<boolean>
}
