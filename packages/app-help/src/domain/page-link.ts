import { addParts } from '@causeway/embed'
import { splitBlocks } from './block.ts'
import { extractWords } from './index-text.ts'

export interface PageLink {
  /** Relative path of the target, with slashes. */
  readonly to: string
  /** Indexed words of the fragment and of the list item or paragraph (if it is long, only of the link). */
  readonly text: string
}

const maxPassageLength = 600
const inlineLink = /\[([^\][]*)\]\(([^()\s#]+)(#[^()\s]*)?(?:\s[^()]*)?\)/g

/**
 * Returns the unique links of a page to other pages. Words around a link describe its target (Craswell, Hawking and
 * Robertson, 2001).
 */
export function findPageLinks(path: string, body: string): PageLink[] {
  const links = new Map<string, PageLink>()
  for (const passage of listPassages(body.split('\n')))
    for (const [, label = '', target = '', fragment = ''] of passage.matchAll(inlineLink)) {
      const to = resolvePage(path, target)
      if (to === undefined || to === path) continue
      const words = extractWords(passage.length < maxPassageLength ? passage : label)
      const text = addParts(`${words} ${fragment.replace(/[#_-]+/g, ' ')}`)
        .replace(/[\s|]+/g, ' ')
        .trim()
      if (text !== '') links.set(`${to}\n${text}`, { to, text })
    }
  return [...links.values()]
}

function listPassages(lines: readonly string[]): string[] {
  return splitBlocks(lines)
    .filter(({ kind }) => kind !== 'fence' && kind !== 'blank')
    .flatMap(({ start, end }) =>
      lines
        .slice(start, end)
        .join('\n')
        .split(/\n(?=\s*(?:[-*+]|\d+[.)]|\|)\s)/),
    )
}

function resolvePage(from: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target) || !/\.(?:md|mdx|markdown|rst)$/i.test(target))
    return undefined
  const segments = target.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const segment of target.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.join('/')
}
