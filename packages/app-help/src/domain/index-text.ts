import { spaced } from '@causeway/embed'

/**
 * The words of Markdown as an index wants them: without marks, addresses of links, HTML, comments and MDX imports;
 * code stays. Unspaced scripts come in pairs of characters.
 */
export function indexText(markdown: string): string {
  return spaced(
    markdown
      .normalize('NFKC')
      .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
      .replace(/\{\/\*[\s\S]*?\*\/\}/g, ' ')
      .replace(/^(?:import|export)\s.*\sfrom\s+['"][^'"]*['"];?\s*$/gm, ' ')
      .replace(/!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, '$1')
      .replace(/<\/?[a-zA-Z][^<>]*>/g, ' ')
      .replace(/https?:\/\/\S+/g, ' ')
      .replace(/^ {0,3}(?:#{1,6}\s+|[-*+]\s+|>\s?|\|?[\s|:-]+\|?$)/gm, ' ')
      .replace(/^(?: {0,3})(?:`{3,}|~{3,}).*$/gm, ' '),
  )
}

/** What is embedded of a piece: the way to it, then its text. */
export const embeddedText = (title: string, heading: string, markdown: string): string =>
  `${spaced(title)}. ${spaced(heading)}. ${indexText(markdown)}`
