import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fill, type Makers } from './blocks.ts'

/** Returns the sorted relative paths of all documents that may contain generated blocks. */
export function documents(root: string): string[] {
  return globSync(
    ['README.md', 'docs/*.md', 'packages/*/README.md', 'server/README.md', 'bridge/README.md'],
    {
      cwd: root,
    },
  ).sort()
}

/** Returns the documents with outdated blocks; rewrites them if `write` is set. */
export function stale(root: string, makers: Makers, { write }: { write: boolean }): string[] {
  return documents(root).filter((path) => {
    const text = readFileSync(`${root}/${path}`, 'utf8')
    const made = fillNamed(path, text, makers)
    if (made !== text && write) writeFileSync(`${root}/${path}`, made)
    return made !== text
  })
}

function fillNamed(path: string, text: string, makers: Makers): string {
  try {
    return fill(text, makers)
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause })
  }
}
