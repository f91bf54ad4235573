import { CausewayError } from './causeway-error.ts'

export const appNamePattern = /^[A-Z][A-Za-z0-9]*$/

const toolNamePattern = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

/** Name on the shared mount. Clients add `mcp__causeway__` and allow 64 characters. */
export const wireNamePattern = /^[A-Za-z0-9_-]{1,49}$/

/** Alias on an app's own mount, for example `trm.start`. */
export const bareAliasPattern = /^[A-Za-z0-9_.-]{1,49}$/

/** Returns a name such as `Replay__get_frame`. Throws `INVALID_APP` if clients do not support it. */
export function wireName(app: string, tool: string): string {
  if (!appNamePattern.test(app)) throw new CausewayError('INVALID_APP', `not an app name: ${app}`)
  if (!toolNamePattern.test(tool)) throw new CausewayError('INVALID_APP', `not a tool name: ${tool}`)
  const name = `${app}__${tool}`
  if (!wireNamePattern.test(name))
    throw new CausewayError('INVALID_APP', `name longer than 49 characters: ${name}`)
  return name
}

/** Path segments below `/mcp` that are not apps. */
export const reservedPaths: ReadonlySet<string> = new Set(['core', 'p'])

/** Decodes percent-encoding. Returns `undefined` if it is malformed. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Returns an app's path segment: `replay` in `/mcp/replay`. */
export const pathName = (app: string): string => app.toLowerCase()
