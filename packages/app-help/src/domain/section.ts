import Slugger from 'github-slugger'
import type { Block } from './block.ts'

/** The text below a heading of level 1 to 4, or before the first heading. Lines count from 0. `end` is exclusive. */
export interface Section {
  /** Headings from the outermost to the section's own. Empty before the first heading. */
  readonly path: readonly string[]
  /** 0 before the first heading. */
  readonly level: number
  /** Fragment of the heading in rendered pages. Empty before the first heading. */
  readonly anchor: string
  readonly start: number
  readonly end: number
  readonly blocks: readonly Block[]
}

const maxLevel = 4

export function splitSections(blocks: readonly Block[]): Section[] {
  const slugger = new Slugger()
  const sections: { path: string[]; level: number; anchor: string; blocks: Block[] }[] = []
  const parentHeadings: { level: number; title: string }[] = []
  for (const block of blocks) {
    const { level = 0, title = '' } = block
    const anchor = block.kind === 'heading' ? (block.id ?? slugger.slug(title)) : ''
    if (block.kind === 'heading' && level <= maxLevel) {
      while ((parentHeadings.at(-1)?.level ?? 0) >= level) parentHeadings.pop()
      parentHeadings.push({ level, title })
      sections.push({ path: parentHeadings.map((heading) => heading.title), level, anchor, blocks: [block] })
    } else if (sections.length > 0) sections.at(-1)?.blocks.push(block)
    else sections.push({ path: [], level: 0, anchor: '', blocks: [block] })
  }
  return sections.map((section) => ({
    ...section,
    start: section.blocks[0]?.start ?? 0,
    end: section.blocks.at(-1)?.end ?? 0,
  }))
}
