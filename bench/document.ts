const head = `# Benchmarks

Ratios of one run compare, and nothing else does: every part measures its peers beside our own, in turns. Each part below
is written by the command in its first mark, with the machine, the date and the commit.
`

/** Unlike those of `scripts/docs.ts`, whose blocks are made anew at every check. */
const marks = (command: string) => ({
  first: `<!-- measured by ${command}: begins -->`,
  last: `<!-- measured by ${command}: ends -->`,
})

/** The document with this part in place of its older one, or at the end where there was none. */
export function withPart(document: string | undefined, command: string, part: string): string {
  const text = document ?? head
  const { first, last } = marks(command)
  const block = `${first}\n\n${part.trim()}\n\n${last}`
  const start = text.indexOf(first)
  const end = text.indexOf(last)
  if (start === -1 && end === -1) return `${text.trimEnd()}\n\n${block}\n`
  if (start === -1 || end < start)
    throw new Error(`the part of "${command}" lacks its first or its last mark`)
  return text.slice(0, start) + block + text.slice(end + last.length)
}
