/** Every law, over one pass through the frames. */
import { balanceLaw } from './balance-law.ts'
import { budgetLaw } from './budget-law.ts'
import { chatterLaw } from './chatter-law.ts'
import { coneLaw } from './cone-law.ts'
import type { Law } from './law.ts'
import { normalLaw } from './normal-law.ts'
import { penetrationLaw } from './penetration-law.ts'
import { recordLaw } from './record-law.ts'
import { restLaw } from './rest-law.ts'
import { restitutionLaw } from './restitution-law.ts'
import { solverLaw } from './solver-law.ts'
import { teleportLaw } from './teleport-law.ts'
import { tunnellingLaw } from './tunnelling-law.ts'

/** What a caller may set in place of the usual limits. */
export interface LawOptions {
  /** m, any overlap beyond it is too deep */
  readonly depthLimit?: number
}

/** Makes a law, by name. */
export const laws = {
  record: recordLaw,
  teleport: teleportLaw,
  balance: balanceLaw,
  budget: budgetLaw,
  cone: coneLaw,
  restitution: restitutionLaw,
  normal: normalLaw,
  tunnelling: tunnellingLaw,
  solver: solverLaw,
  chatter: chatterLaw,
  penetration: ({ depthLimit }) => penetrationLaw(depthLimit),
  rest: restLaw,
} as const satisfies Readonly<Record<string, (options: LawOptions) => Law>>

/** Name of a law. */
export type LawName = keyof typeof laws
