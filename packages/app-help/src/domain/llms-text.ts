interface ListedPage {
  readonly doc_id: number
  readonly title: string
  readonly file_path: string
  readonly section: string
}

/** Formats pages as `llms.txt` (https://llmstxt.org), grouped by section. */
export function formatLlmsText(title: string, about: string, pages: readonly ListedPage[]): string {
  const pagesBySection = new Map<string, ListedPage[]>()
  for (const page of pages) {
    const members = pagesBySection.get(page.section)
    if (members === undefined) pagesBySection.set(page.section, [page])
    else members.push(page)
  }
  const parts = [...pagesBySection].map(([section, members]) =>
    [`## ${section}`, '', ...members.map(link)].join('\n'),
  )
  return `${[`# ${title}`, `> ${about}`, ...parts].join('\n\n')}\n`
}

const link = ({ title, doc_id, file_path }: ListedPage): string =>
  `- [${title}](help://doc/${doc_id}): ${file_path}`
