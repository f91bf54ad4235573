/** `1 step`, `2 steps`: a number with its noun, whose plural is regular. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
