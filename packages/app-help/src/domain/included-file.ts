/** A folder of pages, an installed package, or this product (checkout or packed). */
export type SourceKind = 'folder' | 'package' | 'product'

/** Whether a file is a page of the source, or whether a folder can contain a page. `path` is relative, with slashes. */
export function isIncluded(kind: SourceKind, path: string, isFolder: boolean): boolean {
  // Excludes parts of sites, such as `_sidebar.md`, and files of tools.
  if (/(?:^|\/)(?:[._][^/]*|node_modules)$/.test(path)) return false
  if (kind === 'package') return /^(?:docs?(?:\/.*)?|readme(?:\.[^/]*)?)$/i.test(path)
  if (kind === 'product') return (isFolder ? productFolder : productPage).test(path)
  return true
}

const productPage =
  /^(?:README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/|^(?:bridge|server|examples)\/README\.md$|^(?:packages|examples)\/[^/]+\/README\.md$/

const productFolder = /^docs(?:\/|$)|^(?:bridge|server)$|^(?:packages|examples)(?:\/[^/]+)?$/
