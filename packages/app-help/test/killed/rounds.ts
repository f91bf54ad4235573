export const pageCount = 40

/** Returns the text of a page in a round. All pages of an index must be from the same round. */
export const makePage = (page: number, round: number): string =>
  `# Page ${page}\n\nWritten in round ${round}.\n\n${`The lifecycle of hook ${page} in words of round ${round}. `.repeat(20)}\n`

export const findRound = (text: string): number => Number(/Written in round (\d+)\./.exec(text)?.[1])
