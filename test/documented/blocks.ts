/** A fenced `sh` block of a document, with its annotations. */
export interface ShellBlock {
  readonly commands: string
  /** Reason why it is not run, from the comment directly above it. */
  readonly notRun: string | undefined
  /** The parsed `json` block that follows: an abbreviated response. */
  readonly answer: unknown
  /** The `text` block that follows: the whole output. */
  readonly output: string | undefined
}

const fence = /^```(\w+)\n([\s\S]*?)^```$/gm
const notRun = /<!-- not run, needs (.+) -->\n$/

/** Returns the `sh` blocks of a Markdown text, in order. */
export function shellBlocks(markdown: string): ShellBlock[] {
  const fences = [...markdown.matchAll(fence)]
  return fences.flatMap(([, language, commands = ''], position) => {
    if (language !== 'sh') return []
    const [, kind, shown = ''] = fences[position + 1] ?? []
    return {
      commands,
      notRun: notRun.exec(markdown.slice(0, fences[position]?.index))?.[1],
      answer: kind === 'json' ? JSON.parse(shown) : undefined,
      output: kind === 'text' ? shown : undefined,
    }
  })
}
