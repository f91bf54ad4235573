/** Paths by pattern: `*` and `?` within a name, `**` over folders, a folder by its name and a slash. */

/** A test of paths, relative and with forward slashes: `data/` holds all below it, `*.lock` is any such file anywhere. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const whole = pattern.endsWith('/') ? `${pattern}**` : pattern
  const anywhere = whole.includes('/') ? whole.replace(/^\//, '') : `**/${whole}`
  const source = anywhere.replaceAll(
    /\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g,
    (part) => meanings[part] ?? `\\${part}`,
  )
  const expression = new RegExp(`^${source}$`, 's')
  return (path) => expression.test(path)
}

const meanings: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
}
