/** A generated block: what stands between its two marks, each on a line of its own. */
const block = /^<!-- made by scripts\/docs\.ts: (.+) -->\n([\s\S]*?)^<!-- end (.+) -->$/gm
const mark = /^<!-- (?:made by scripts\/docs\.ts: |end ).*-->$/gm

/** What makes the text of a block, by the name in its marks. */
export type Makers = ReadonlyMap<string, () => string>

/** The names of the blocks of a document, in order. */
export function blockNames(text: string): string[] {
  return [...text.matchAll(block)].map((match) => match[1] ?? '')
}

/** The document with every block made anew. Throws for a block without its end, or of a name that nothing makes. */
export function fill(text: string, makers: Makers): string {
  const marks = [...text.matchAll(mark)].length
  if (marks !== 2 * blockNames(text).length) throw new Error('a block lacks its first or its last mark')
  return text.replace(block, (_whole, name: string, _old, end: string) => {
    const make = makers.get(name)
    if (make === undefined) throw new Error(`nothing makes the block "${name}"`)
    if (name !== end) throw new Error(`the block "${name}" ends as "${end}"`)
    return `<!-- made by scripts/docs.ts: ${name} -->\n\n${make().trim()}\n\n<!-- end ${name} -->`
  })
}
