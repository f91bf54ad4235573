/** Channels through which a behaviour is tested: the app directly, the server over HTTP, the bridge over stdio. */
export type Channel = 'direct' | 'http' | 'bridge'

/** A promised behaviour and its origin. */
export interface Requirement {
  /** Document and section that requires it: the original design, a protocol specification, or our own design. */
  readonly origin: string
  /** The observable behaviour, in one sentence that a test can falsify. */
  readonly behaviour: string
  /** Channels on which it must hold; `verifies` runs the test once for each. If absent, the test chooses. */
  readonly over?: readonly Channel[]
  /** Why the requirement is not met yet. Its test must then fail; a passing test fails the build. */
  readonly knownFailure?: string
}

/** Requirements by id, `area:subject[:detail]` in kebab-case; an id is never renamed or reused. */
export type Requirements = Readonly<Record<string, Requirement>>
