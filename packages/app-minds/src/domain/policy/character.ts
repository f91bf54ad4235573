/** Need weights by trait. Unlisted traits have no effect. */
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

/** Need whose weight each personality dimension multiplies by 0.5 plus its value. */
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

/** Returns a factor per affected need, 0.5 to 2. Omits needs with the default factor 1. */
export function computeNeedWeights(
  traits: readonly string[],
  dimensions: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const weights: Record<string, number> = {}
  const applyFactor = (need: string, factor: number): void => {
    weights[need] = Math.min(2, Math.max(0.5, (weights[need] ?? 1) * factor))
  }
  for (const trait of traits)
    for (const [need, factor] of Object.entries(traitWeights[trait.toLowerCase()] ?? {}))
      applyFactor(need, factor)
  for (const [dimension, value] of Object.entries(dimensions)) {
    const need = dimensionNeeds[dimension.toLowerCase()]
    if (need !== undefined) applyFactor(need, 0.5 + value)
  }
  return weights
}
