/** A call of `verifies` at the start of a line; one in a comment or in a string is none. */
const citation = /^[ \t]*verifies\(\s*'([^'\n]+)'/gm

/** The ids that the text of one test file cites, in order, repeats included. */
export function citations(text: string): string[] {
  return [...text.matchAll(citation)].map((match) => match[1] ?? '')
}

/** What is wrong between the ids that exist and those cited by file: ids nobody proves, and citations of nothing. */
export function gaps(
  ids: readonly string[],
  cited: ReadonlyMap<string, readonly string[]>,
): { unproved: string[]; unknown: string[] } {
  const known = new Set(ids)
  const proved = new Set([...cited.values()].flat())
  return {
    unproved: ids.filter((id) => !proved.has(id)),
    unknown: [...cited].flatMap(([file, list]) =>
      list.filter((id) => !known.has(id)).map((id) => `${file}: ${id}`),
    ),
  }
}
