/** How much work arguments are, roughly: numbers in their lists, or a share of the letters of a text. */

/** Letters that weigh as much as one number. */
const lettersPerNumber = 20

/** Counts until it is sure that the arguments are heavy: to count them all would be work itself. */
const enough = 10_000

/** Pairs of numbers in nested lists. */
export function weightOf(args: Readonly<Record<string, unknown>>): number {
  const count = { left: enough }
  for (const value of Object.values(args)) weigh(value, count)
  return (enough - count.left) / 2
}

function weigh(value: unknown, count: { left: number }): void {
  if (count.left <= 0) return
  if (typeof value === 'number') count.left--
  else if (typeof value === 'string') count.left -= value.length / lettersPerNumber
  else if (Array.isArray(value)) for (const item of value) weigh(item, count)
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) weigh(member, count)
}
