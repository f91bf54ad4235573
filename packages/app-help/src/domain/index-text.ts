import { spaced, withParts } from '@causeway/embed'

/** A line that only leads to a heading of its own page, whose words it repeats. */
const tableOfContents = /^[^\S\n]*[-*+]\s+\[[^\][]*\]\(#[^()]*\)[^\S\n]*$/gm

/** A link or picture; a picture within a link is one after the other. Bounded, so that a page of brackets takes no longer than others. */
const link = /!?\[([^\][]{0,1000})\]\((?:[^()]|\([^()]{0,1000}\)){0,2000}\)/g

/**
 * The words of Markdown as an index wants them: without marks, addresses of links, HTML, comments and MDX imports;
 * code stays. Unspaced scripts come in pairs of characters.
 */
export function indexText(markdown: string): string {
  return spaced(
    markdown
      .normalize('NFKC')
      .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
      .replace(/\{\/\*(?:(?!\{\/\*)[\s\S])*?\*\/\}/g, ' ')
      .replace(/^(?:import|export)\s.*\sfrom\s+['"][^'"]*['"];?\s*$/gm, ' ')
      .replace(tableOfContents, ' ')
      .replace(link, '$1')
      .replace(link, '$1')
      .replace(/<\/?[a-zA-Z][^<>]*>/g, ' ')
      .replace(/https?:\/\/\S+/g, ' ')
      .replace(/^ {0,3}(?:#{1,6}\s+|[-*+]\s+|>\s?|\|?[\s|:-]+\|?$)/gm, ' ')
      .replace(/^(?: {0,3})(?:`{3,}|~{3,}).*$/gm, ' '),
  )
}

/** What is embedded of a piece: the way to it, then its text. */
export const embeddedText = (title: string, heading: string, markdown: string): string =>
  `${spaced(title)}. ${spaced(heading)}. ${indexText(markdown)}`

/** What a page is called, for the index: its title, and the words of its source and path, since people name packages. */
export const indexedTitle = (page: {
  readonly title: string
  readonly source: string
  readonly file_path: string
}): string => {
  const path = `${page.source.replace(/^pkg:/, '')} ${page.file_path.replace(/\.[^.]*$/, '')}`
  const parts = path.split(/[^\p{L}\p{N}]+/u).filter((part) => !/^(docs?|readme|index)?$/i.test(part))
  return spaced(`${page.title} ${[...new Set(parts)].join(' ')}`)
}

/** A text for an index: its words as they are written, and for stems with the parts of each name. */
export interface IndexedWords {
  readonly exact: readonly [title: string, headings: string, text: string]
  readonly stem: readonly [title: string, headings: string, text: string]
}

/** The columns of a piece or page for the full text indexes. */
export function indexedWords(title: string, headings: string, markdown: string): IndexedWords {
  const [heads, text] = [spaced(headings), indexText(markdown)]
  return { exact: [title, heads, text], stem: [withParts(title), withParts(heads), withParts(text)] }
}

/** Version of the words that indexes have of a text. With another one a build reads every page again. */
export const wordsVersion = 3
