/** How many pages there are. */
export const pageCount = 40

/** A page as it is written in a round: what one index holds must be of one round. */
export const pageOf = (page: number, round: number): string =>
  `# Page ${page}\n\nWritten in round ${round}.\n\n${`The lifecycle of hook ${page} in words of round ${round}. `.repeat(20)}\n`

/** The round of a page's text. */
export const roundOf = (text: string): number => Number(/Written in round (\d+)\./.exec(text)?.[1])
