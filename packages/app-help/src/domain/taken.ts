/** Which files of a source are pages of it, by their path. */

/** A folder of pages, an installed package, or this product in a checkout or as it is packed. */
export type SourceKind = 'folder' | 'package' | 'product'

/** True where a file below a source, or a folder that may hold one, is taken. `path` has slashes and is below the source. */
export function isTaken(kind: SourceKind, path: string, isFolder: boolean): boolean {
  // Parts of sites that are no pages, such as `_sidebar.md`, and what tools keep beside pages.
  if (/(?:^|\/)(?:[._][^/]*|node_modules)$/.test(path)) return false
  if (kind === 'package') return /^(?:docs?(?:\/.*)?|readme(?:\.[^/]*)?)$/i.test(path)
  if (kind === 'product') return (isFolder ? productFolder : productPage).test(path)
  return true
}

/** What the project says of itself, and what each part and example of it says. */
const productPage =
  /^(?:README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/|^(?:bridge|server|examples)\/README\.md$|^(?:packages|examples)\/[^/]+\/README\.md$/

const productFolder = /^docs(?:\/|$)|^(?:bridge|server)$|^(?:packages|examples)(?:\/[^/]+)?$/
