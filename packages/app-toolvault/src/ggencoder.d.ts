/** The part of ggencoder that is used here; the package has no types of its own. */
declare module 'ggencoder' {
  /** Parts of a message of several sentences that have come so far. */
  type AisSession = Record<string, unknown>

  /** One decoded sentence; members are there by the type of the message. */
  class AisDecode {
    constructor(sentence: string, session?: AisSession)
    /** false for a part of a message, and for a position that is not available */
    readonly valid: boolean
    /** what is wrong with the sentence, or empty */
    readonly error: string
    readonly aistype?: number
    readonly mmsi?: string
    readonly lon?: number
    readonly lat?: number
    /** knots */
    readonly sog?: number
    /** degrees */
    readonly cog?: number
    /** second of the minute; 60 and more: not available */
    readonly utc?: number
    readonly navstatus?: number
    readonly shipname?: string
    readonly callsign?: string
    readonly txt?: string
  }

  const ggencoder: { readonly AisDecode: typeof AisDecode }
  export default ggencoder
}
