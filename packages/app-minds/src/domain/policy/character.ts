/** How traits and dimensions of a character weigh its needs: by this table alone, never by guessing from free text. */

/** trait -> need -> factor of its urgency */
const traitWeights: Readonly<Record<string, Readonly<Record<string, number>>>> = Object.freeze({
  gregarious: { social: 1.5 },
  outgoing: { social: 1.5 },
  sociable: { social: 1.5 },
  shy: { social: 0.7 },
  introverted: { social: 0.7 },
  lazy: { energy: 1.3 },
  energetic: { energy: 0.8 },
  curious: { fun: 1.2 },
  playful: { fun: 1.4 },
  serious: { fun: 0.7 },
  gluttonous: { hunger: 1.4 },
  neat: { hygiene: 1.4 },
  messy: { hygiene: 0.7 },
})

/** dimension -> the need whose factor runs from 0.5 at 0 over 1 at 0.5 to 1.5 at 1 */
const dimensionNeeds: Readonly<Record<string, string>> = Object.freeze({
  extraversion: 'social',
  sociability: 'social',
  laziness: 'energy',
  playfulness: 'fun',
  openness: 'fun',
  neatness: 'hygiene',
  conscientiousness: 'hygiene',
  appetite: 'hunger',
})

/** The factor of each need, within 0.5 and 2; needs that are not there count 1. */
export function needWeights(
  traits: readonly string[],
  dimensions: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const weights: Record<string, number> = {}
  const weigh = (need: string, factor: number): void => {
    weights[need] = Math.min(2, Math.max(0.5, (weights[need] ?? 1) * factor))
  }
  for (const trait of traits)
    for (const [need, factor] of Object.entries(traitWeights[trait.toLowerCase()] ?? {})) weigh(need, factor)
  for (const [dimension, value] of Object.entries(dimensions)) {
    const need = dimensionNeeds[dimension.toLowerCase()]
    if (need !== undefined) weigh(need, 0.5 + value)
  }
  return weights
}
