/** The ways by which one behaviour can be asked for: the app alone, the server over HTTP, the bridge over stdio. */
export type Channel = 'direct' | 'http' | 'bridge'

/** One promise of the product, and where the promise was made. */
export interface Requirement {
  /** Document and section that asks for it: the original design, a protocol specification, or our own design. */
  readonly origin: string
  /** What a user sees, one sentence that a test can prove wrong. */
  readonly behaviour: string
  /** Channels over which it must hold; `verifies` runs the test once for each. Absent: the test decides alone. */
  readonly over?: readonly Channel[]
  /** Why it is not kept today; a test of it must then fail, and passing fails the build. */
  readonly knownFailure?: string
}

/** Requirements by id, `area:subject[:detail]` in kebab-case; an id is never renamed or used again. */
export type Requirements = Readonly<Record<string, Requirement>>
