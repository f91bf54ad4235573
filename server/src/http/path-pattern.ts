/** Paths with variables, `/recordings/{name}/frames`, as an app declares its routes. */
import type { Variables } from '@causeway/app-kit'

/** The variables of a path that fits the pattern, percent-decoded; undefined for one that does not. */
export function matchPath(pattern: string, path: string): Variables | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const variables: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] as string // same length
    const name = /^\{(.+)\}$/.exec(part)?.[1]
    if (name === undefined) {
      if (part !== segment) return undefined
      continue
    }
    const value = decode(segment)
    if (value === undefined || value === '') return undefined
    variables[name] = value
  }
  return variables
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not UTF-8 behind its percent signs: no path of ours.
    return undefined
  }
}
