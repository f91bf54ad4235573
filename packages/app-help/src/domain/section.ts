import type { Block } from './block.ts'

/** The text under one heading of level 1 to 4, or before the first. Lines from 0, `end` excluded. */
export interface Section {
  /** Headings above and its own, outermost first; empty before the first heading. */
  readonly path: readonly string[]
  /** 0 before the first heading. */
  readonly level: number
  /** Fragment of the heading in rendered pages; empty before the first heading. */
  readonly anchor: string
  readonly start: number
  readonly end: number
  readonly blocks: readonly Block[]
}

/** Headings below this level belong to the text of their section. */
const deepest = 4

/** Cuts blocks into sections, in order, covering the same lines. */
export function sections(blocks: readonly Block[]): Section[] {
  const slug = anchors()
  const found: { path: string[]; level: number; anchor: string; blocks: Block[] }[] = []
  const above: { level: number; title: string }[] = []
  for (const block of blocks) {
    const { level = 0, title = '' } = block
    // A heading too deep for a section still counts where anchors of one name are numbered.
    const anchor = block.kind === 'heading' ? slug(title) : ''
    if (block.kind === 'heading' && level <= deepest) {
      while ((above.at(-1)?.level ?? 0) >= level) above.pop()
      above.push({ level, title })
      found.push({ path: above.map((heading) => heading.title), level, anchor, blocks: [block] })
    } else if (found.length > 0) found.at(-1)?.blocks.push(block)
    else found.push({ path: [], level: 0, anchor: '', blocks: [block] })
  }
  return found.map((section) => ({
    ...section,
    start: section.blocks[0]?.start ?? 0,
    end: section.blocks.at(-1)?.end ?? 0,
  }))
}

/** Gives anchors as GitHub does: lower case, spaces as hyphens, punctuation dropped, repeats numbered from 1. */
function anchors(): (title: string) => string {
  const seen = new Map<string, number>()
  return (title) => {
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
