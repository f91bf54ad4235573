/** How much a need presses, and what an interaction is worth by it. */
import type { Interaction, Need } from '../observation.ts'
import { shareOf } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import type { Gains } from './state.ts'

/** `(1 - v)^2`, and more when critical; v is the share of the need that is filled. */
export function urgency(share: number, constants: PolicyConstants): number {
  return (1 - share) ** 2 + (share <= constants.critical ? constants.critical_urgency : 0)
}

/** Worth of an interaction before distance. */
export interface Worth {
  readonly gain: number
  readonly cost: number
  /** The need that it helps most; null where it fills none that is known. */
  readonly need: string | null
}

/** What worth is computed from, beside the interaction. */
export interface Wants {
  readonly needs: readonly Need[]
  /** need -> factor, from character; 1 where absent */
  readonly weights: Readonly<Record<string, number>>
  readonly gains: Gains
  readonly constants: PolicyConstants
}

/** Urgency taken away by what it fills, less urgency added by what it drains. */
export function worthOf(interaction: Interaction, wants: Wants): Worth {
  const { needs, weights, constants } = wants
  const weigh = (need: Need, from: number, to: number): number =>
    (weights[need.name] ?? 1) * (urgency(from, constants) - urgency(to, constants))
  let gain = 0
  let best: { need: string | null; gain: number } = { need: null, gain: 0 }
  for (const need of needs.filter(({ name }) => interaction.fills.includes(name))) {
    const share = shareOf(need)
    const one = weigh(need, share, Math.min(1, share + fillOf(interaction, need, wants)))
    gain += one
    if (best.need === null || one > best.gain) best = { need: need.name, gain: one }
  }
  let cost = 0
  for (const need of needs.filter(({ name }) => interaction.drains.includes(name))) {
    const share = shareOf(need)
    cost -= weigh(need, share, Math.max(0, share - constants.default_drain))
  }
  return { gain, cost, need: best.need }
}

/** What it will fill: as learned, else as the game tells, else the default. */
function fillOf(interaction: Interaction, need: Need, { gains, constants }: Wants): number {
  const learned = gains[gainKey(interaction.name, need.name)]
  if (learned !== undefined && learned.samples >= constants.learned_after) return learned.mean
  const rate = interaction.rates[need.name]
  if (rate === undefined || rate <= 0) return constants.default_fill
  const minutes = interaction.minutes ?? constants.expected_minutes
  return Math.min(1, Math.max(0, (rate * minutes) / need.max))
}

/** Where the gain of an interaction for a need is kept. */
export const gainKey = (interaction: string, need: string): string => `${interaction}|${need}`
