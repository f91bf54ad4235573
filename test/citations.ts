/** A call of `verifies` at the start of a line, not in a comment or a string. */
const citation = /^[ \t]*verifies\(\s*'([^'\n]+)'/gm

/** Returns the ids that a test file cites, in order, with repetitions. */
export function citations(text: string): string[] {
  return [...text.matchAll(citation)].map((match) => match[1] ?? '')
}

/** Compares the existing ids with those that files cite: returns unproved ids and unknown citations. */
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
