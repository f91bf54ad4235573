/** `1 track`, `2 tracks`, `2 passes`: a number with its noun. */
export const counted = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : /(s|x|sh|ch)$/.test(noun) ? `${noun}es` : noun.replace(/([^aeo])y$/, '$1ie').concat('s')}`
