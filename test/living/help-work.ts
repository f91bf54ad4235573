import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CallError, tool, type Work } from './work.ts'

/** Adds a page before each start, so that the server is always indexing, and searches for the first page. */
export function helpWork(root: string): Work<boolean> {
  const folder = join(root, 'pages')
  let pages = 0
  /** Whether the first page was found. From then on every index contains it. */
  let isFound = false
  const find = async (url: string, word: string): Promise<readonly { doc_id: string }[]> =>
    (await tool(url, ['help', 'find_help_topics'], { text: word, source: 'mine', top_n: 3 })).results
  const add = (): void => {
    mkdirSync(folder, { recursive: true })
    const lines = Array.from({ length: 200 }, (_, i) => `Paragraph ${i} of page ${pages} on lamps.\n`)
    const title = pages === 0 ? 'The quokka' : `Page ${pages}`
    writeFileSync(join(folder, `page-${pages}.md`), `# ${title}\n\n${lines.join('\n')}`)
    pages += 1
  }
  return {
    name: 'help',
    env: { CAUSEWAY_HELP_BUILD: 'true', CAUSEWAY_HELP_SOURCES: `mine=${folder}` },
    before: add,
    begin: async () => {},
    async step({ url }) {
      const found = await find(url, 'quokka').catch((error) => {
        // Before the first index is complete, the search fails.
        if (isFound || !(error instanceof CallError)) throw error
        return []
      })
      isFound ||= found.length > 0
    },
    promised: () => isFound,
    async check(t, { url }, promised) {
      if (!promised) return
      t.ok((await find(url, 'quokka')).length > 0, 'a completed index is still searchable')
    },
  }
}
