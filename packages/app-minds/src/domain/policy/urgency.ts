import type { Interaction, Need } from '../observation.ts'
import { computeNeedShare } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import type { PolicyContext } from './policy-context.ts'

export function computeUrgency(share: number, constants: PolicyConstants): number {
  return (1 - share) ** 2 + (share <= constants.critical ? constants.critical_urgency : 0)
}

type NeedContext = Pick<PolicyContext, 'situation' | 'state' | 'weights' | 'constants'>

/**
 * Returns how much an interaction reduces the weighted urgency of needs (gain), how much it increases that of other
 * needs (cost), and the need that benefits most.
 */
export function estimateWorth(interaction: Interaction, context: NeedContext) {
  const { situation, weights, constants } = context
  const { needs } = situation.observation
  const computeReduction = (need: Need, from: number, to: number): number =>
    (weights[need.name] ?? 1) * (computeUrgency(from, constants) - computeUrgency(to, constants))
  let gain = 0
  let bestNeed: { need: string | null; gain: number } = { need: null, gain: 0 }
  for (const need of needs.filter(({ name }) => interaction.fills.includes(name))) {
    const share = computeNeedShare(need)
    const reduction = computeReduction(
      need,
      share,
      Math.min(1, share + estimateFill(interaction, need, context)),
    )
    gain += reduction
    if (bestNeed.need === null || reduction > bestNeed.gain) bestNeed = { need: need.name, gain: reduction }
  }
  let cost = 0
  for (const need of needs.filter(({ name }) => interaction.drains.includes(name))) {
    const share = computeNeedShare(need)
    cost -= computeReduction(need, share, Math.max(0, share - constants.default_drain))
  }
  return { gain, cost, need: bestNeed.need }
}

function estimateFill(interaction: Interaction, need: Need, { state, constants }: NeedContext): number {
  const learnedGain = state.gains[createGainKey(interaction.name, need.name)]
  if (learnedGain !== undefined && learnedGain.samples >= constants.learned_after) return learnedGain.mean
  const rate = interaction.rates[need.name]
  if (rate === undefined || rate <= 0) return constants.default_fill
  const minutes = interaction.minutes ?? constants.expected_minutes
  return Math.min(1, Math.max(0, (rate * minutes) / need.max))
}

export const createGainKey = (interaction: string, need: string): string => `${interaction}|${need}`
