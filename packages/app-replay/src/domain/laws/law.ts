import type { Finding } from '../findings/finding.ts'
import type { Step } from '../steps/step.ts'

/** A law of physics or bookkeeping. Observes every step once, in frame order. */
export interface Law {
  observe(step: Step): void
  /** Returns what was found, after the last step. */
  findings(): readonly Finding[]
}
