import { addParts, separateWords } from '@causeway/embed'

const tableOfContents = /^[^\S\n]*[-*+]\s+\[[^\][]*\]\(#[^()]*\)[^\S\n]*$/gm

/** The lengths are bounded, so that matching takes linear time. */
const link = /!?\[([^\][]{0,1000})\]\((?:[^()]|\([^()]{0,1000}\)){0,2000}\)/g

/** Extracts the indexed words of Markdown, including code. Scripts without spaces become pairs of characters. */
export function extractWords(markdown: string): string {
  return separateWords(
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

export const makeEmbeddedText = (title: string, heading: string, markdown: string): string =>
  `${separateWords(title)}. ${separateWords(heading)}. ${extractWords(markdown)}`

/** Returns a page's title with the words of its source and path. */
export const makeIndexedTitle = (page: {
  readonly title: string
  readonly source: string
  readonly file_path: string
}): string => {
  const path = `${page.source.replace(/^pkg:/, '')} ${page.file_path.replace(/\.[^.]*$/, '')}`
  const parts = path.split(/[^\p{L}\p{N}]+/u).filter((part) => !/^(docs?|readme|index)?$/i.test(part))
  return separateWords(`${page.title} ${[...new Set(parts)].join(' ')}`)
}

interface IndexedWords {
  readonly exact: readonly [title: string, headings: string, text: string]
  readonly stem: readonly [title: string, headings: string, text: string]
}

export function makeIndexedWords(title: string, headings: string, markdown: string): IndexedWords {
  const [headingWords, text] = [separateWords(headings), extractWords(markdown)]
  return {
    exact: [title, headingWords, text],
    stem: [addParts(title), addParts(headingWords), addParts(text)],
  }
}

/** Version of the indexed words and anchors. After a change, a build reads every page again. */
export const wordsVersion = 6
