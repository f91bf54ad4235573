/** A law of physics or of bookkeeping that frames are held against. */
import type { Finding } from './finding.ts'
import type { Step } from './step.ts'

/** Sees every step once, in frame order, and then tells what it found. */
export interface Law {
  see(step: Step): void
  findings(): readonly Finding[]
}
