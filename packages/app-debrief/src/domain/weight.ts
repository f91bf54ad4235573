/** Returns the number of objects and positions in a value, counted up to a limit: an estimate of the work on it. */
export function weightOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value) && typeof value[0] === 'number') return 1
  let weight = Array.isArray(value) ? 0 : 1
  for (const part of Object.values(value)) {
    weight += weightOf(part, limit - weight)
    if (weight >= limit) return limit
  }
  return weight
}
