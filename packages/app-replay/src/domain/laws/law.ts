import type { Finding } from '../findings/finding.ts'
import type { Step } from '../steps/step.ts'

/** Observes every step once, in frame order. */
export interface Law {
  observe(step: Step): void
  /** Called after the last step. */
  findings(): readonly Finding[]
}
