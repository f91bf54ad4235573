/** How many positions stand in a value, counted no further than a limit: what work on it will take. */
export function weightOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value) && typeof value[0] === 'number') return 1
  let weight = 0
  for (const part of Object.values(value)) {
    weight += weightOf(part, limit - weight)
    if (weight >= limit) return limit
  }
  return weight
}
