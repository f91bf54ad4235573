/** Returns the first page whose pattern matches a path, with the path's parts by their `:names`. */
export function findPage<Page extends { readonly pattern: string }>(
  pages: readonly Page[],
  path: string,
): { readonly page: Page; readonly pathParameters: Readonly<Record<string, string>> } | undefined {
  for (const page of pages) {
    const pathParameters = matchPath(page.pattern, path)
    if (pathParameters !== undefined) return { page, pathParameters }
  }
  return undefined
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const names = pattern.split('/')
  const values = path.replace(/(.)\/$/, '$1').split('/')
  if (names.length !== values.length) return undefined
  const pathParameters: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const value = decode(values[index] ?? '')
    if (name.startsWith(':')) pathParameters[name.slice(1)] = value
    else if (name !== value) return undefined
  }
  return pathParameters
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
