/** The rule for names: `<App>__<tool>` on the shared mount, bare names on an app's own mount. */
import { CausewayError } from './causeway-error.ts'

/** An app's name: `Replay`. It never contains the separator. */
export const appNamePattern = /^[A-Z][A-Za-z0-9]*$/

/** A tool's, prompt's or route's own name: `get_frame`. */
export const toolNamePattern = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

/** A name on the wire. Clients put `mcp__causeway__` before it and allow 64 characters in all. */
export const wireNamePattern = /^[A-Za-z0-9_-]{1,49}$/

/** An alias on an app's own mount, the one place where dots may stand: `trm.start`. */
export const bareAliasPattern = /^[A-Za-z0-9_.-]{1,49}$/

/** Stands between the app's name and the tool's. */
export const separator = '__'

/** `('Replay', 'get_frame') -> 'Replay__get_frame'`; throws `INVALID_APP` where a client could not use the name. */
export function wireName(app: string, tool: string): string {
  if (!appNamePattern.test(app)) throw new CausewayError('INVALID_APP', `not an app name: ${app}`)
  if (!toolNamePattern.test(tool)) throw new CausewayError('INVALID_APP', `not a tool name: ${tool}`)
  const name = `${app}${separator}${tool}`
  if (!wireNamePattern.test(name))
    throw new CausewayError('INVALID_APP', `name longer than 49 characters: ${name}`)
  return name
}

/** `'Replay__get_frame' -> { app: 'Replay', tool: 'get_frame' }`, or undefined where there is no separator. */
export function splitWireName(name: string): { app: string; tool: string } | undefined {
  const at = name.indexOf(separator)
  if (at < 1) return undefined
  return { app: name.slice(0, at), tool: name.slice(at + separator.length) }
}

/** The app's part of a path: `Replay -> replay`, as in `/mcp/replay`. */
export const pathName = (app: string): string => app.toLowerCase()
