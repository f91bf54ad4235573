/**
 * What pages say of each other. The words around a link often tell better what a page is about than its own, and in the words of
 * somebody who has not read it yet (Craswell, Hawking and Robertson, 2001).
 */
import { withParts } from '@causeway/embed'
import { blocks } from './block.ts'
import { indexText } from './index-text.ts'

/** A link from a page to another one of its source. */
export interface PageLink {
  /** Path of the other page below the source, with slashes. */
  readonly to: string
  /** Words for the index: those of the list item or paragraph, of a long one those of the link alone, and of the fragment. */
  readonly text: string
}

/** Longer paragraphs are about more than what they lead to. */
const longestAbout = 600
const inlineLink = /\[([^\][]*)\]\(([^()\s#]+)(#[^()\s]*)?(?:\s[^()]*)?\)/g

/** The links of a page to others, in order, each once. */
export function pageLinks(path: string, body: string): PageLink[] {
  const found = new Map<string, PageLink>()
  for (const about of passages(body.split('\n')))
    for (const [, label = '', target = '', fragment = ''] of about.matchAll(inlineLink)) {
      const to = pageOf(path, target)
      if (to === undefined || to === path) continue
      const words = indexText(about.length < longestAbout ? about : label)
      const text = withParts(`${words} ${fragment.replace(/[#_-]+/g, ' ')}`)
        .replace(/[\s|]+/g, ' ')
        .trim()
      if (text !== '') found.set(`${to}\n${text}`, { to, text })
    }
  return [...found.values()]
}

/** Paragraphs and list items, without code. */
function passages(lines: readonly string[]): string[] {
  return blocks(lines)
    .filter(({ kind }) => kind !== 'fence' && kind !== 'blank')
    .flatMap(({ start, end }) =>
      lines
        .slice(start, end)
        .join('\n')
        .split(/\n(?=\s*(?:[-*+]|\d+[.)]|\|)\s)/),
    )
}

/** The page that a link of a page leads to; undefined where it leads out of the source or to something else. */
function pageOf(from: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target) || !/\.(?:md|mdx|markdown)$/i.test(target)) return undefined
  const parts = target.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
