/** Formats a number with a regular noun: `1 step`, `2 steps`. */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`
