/** A generated block between its start mark and its end mark, each on its own line. */
const block = /^<!-- made by scripts\/docs\.ts: (.+) -->\n([\s\S]*?)^<!-- end (.+) -->$/gm
const mark = /^<!-- (?:made by scripts\/docs\.ts: |end ).*-->$/gm

/** Generators of blocks by the name in their marks. */
export type Makers = ReadonlyMap<string, () => string>

/** Returns the names of the blocks of a document, in order. */
export function blockNames(text: string): string[] {
  return [...text.matchAll(block)].map((match) => match[1] ?? '')
}

/** Regenerates every block of a document. Throws if a block has no end or no generator. */
export function fill(text: string, makers: Makers): string {
  const marks = [...text.matchAll(mark)].length
  if (marks !== 2 * blockNames(text).length) throw new Error('a block has no start mark or no end mark')
  return text.replace(block, (_whole, name: string, _old, end: string) => {
    const make = makers.get(name)
    if (make === undefined) throw new Error(`no generator for the block "${name}"`)
    if (name !== end) throw new Error(`the block "${name}" ends with the mark of "${end}"`)
    return `<!-- made by scripts/docs.ts: ${name} -->\n\n${make().trim()}\n\n<!-- end ${name} -->`
  })
}
