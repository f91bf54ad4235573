/** Types for the part of ggencoder that is used here. */
declare module 'ggencoder' {
  type AisSession = Record<string, unknown>

  /** A decoded sentence. The message type determines its members. */
  class AisDecode {
    constructor(sentence: string, session?: AisSession)
    /** `false` if the message is incomplete or has no position. */
    readonly valid: boolean
    /** Empty if the sentence is valid. */
    readonly error: string
    readonly aistype?: number
    readonly mmsi?: string
    readonly lon?: number
    readonly lat?: number
    /** Knots. */
    readonly sog?: number
    /** Degrees. */
    readonly cog?: number
    /** Second of the minute. 60 and more mean "not available". */
    readonly utc?: number
    readonly navstatus?: number
    readonly shipname?: string
    readonly callsign?: string
    readonly txt?: string
  }

  const ggencoder: { readonly AisDecode: typeof AisDecode }
  export default ggencoder
}
