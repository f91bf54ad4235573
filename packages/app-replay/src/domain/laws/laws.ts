import { bodyLaw } from './body-law.ts'
import { chatterLaw } from './contact/chatter-law.ts'
import { collisionLaw } from './contact/collision-law.ts'
import { coneLaw } from './contact/cone-law.ts'
import { frictionWorkLaw } from './contact/friction-work-law.ts'
import { impulseLaw } from './contact/impulse-law.ts'
import { normalLaw } from './contact/normal-law.ts'
import { overlapLaw } from './contact/overlap-law.ts'
import { penetrationLaw } from './contact/penetration-law.ts'
import { reactionLaw } from './contact/reaction-law.ts'
import { restitutionLaw } from './contact/restitution-law.ts'
import { slidingLaw } from './contact/sliding-law.ts'
import { tunnellingLaw } from './contact/tunnelling-law.ts'
import type { Law } from './law.ts'
import { balanceLaw } from './motion/balance-law.ts'
import { budgetLaw } from './motion/budget-law.ts'
import { energyRowLaw } from './motion/energy-row-law.ts'
import { jointLaw } from './motion/joint-law.ts'
import { restLaw } from './motion/rest-law.ts'
import { rotationLaw } from './motion/rotation-law.ts'
import { spinLaw } from './motion/spin-law.ts'
import { teleportLaw } from './motion/teleport-law.ts'
import { recordLaw } from './record-law.ts'
import { solverLaw } from './solver-law.ts'
import { unitLaw } from './unit-law.ts'

export interface LawOptions {
  /** Maximum penetration depth in m, without exceptions. */
  readonly depthLimit?: number
}

export const laws = {
  record: recordLaw,
  body: bodyLaw,
  energyRow: energyRowLaw,
  teleport: teleportLaw,
  impulse: impulseLaw,
  reaction: reactionLaw,
  collision: collisionLaw,
  frictionWork: frictionWorkLaw,
  sliding: slidingLaw,
  unit: unitLaw,
  spin: spinLaw,
  rotation: rotationLaw,
  balance: balanceLaw,
  budget: budgetLaw,
  cone: coneLaw,
  restitution: restitutionLaw,
  normal: normalLaw,
  tunnelling: tunnellingLaw,
  joint: jointLaw,
  solver: solverLaw,
  chatter: chatterLaw,
  overlap: overlapLaw,
  penetration: ({ depthLimit }) => penetrationLaw(depthLimit),
  rest: restLaw,
} as const satisfies Readonly<Record<string, (options: LawOptions) => Law>>

export type LawName = keyof typeof laws
