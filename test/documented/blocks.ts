/** A fenced `sh` block of a document, and what the document says of it. */
export interface ShellBlock {
  readonly commands: string
  /** Why it cannot be run here, when a comment right above it says so. */
  readonly notRun: string | undefined
  /** The `json` block that is the next one: its shortened answer, parsed. */
  readonly answer: unknown
  /** The `text` block that is the next one: its whole output. */
  readonly output: string | undefined
}

const fence = /^```(\w+)\n([\s\S]*?)^```$/gm
const notRun = /<!-- not run, needs (.+) -->\n$/

/** Every `sh` block of a Markdown text, in order. */
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
