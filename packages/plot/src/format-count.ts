/** Returns a text such as `1 track`, `2 tracks` or `2 passes`. */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : /(s|x|sh|ch)$/.test(noun) ? `${noun}es` : noun.replace(/([^aeo])y$/, '$1ie').concat('s')}`
