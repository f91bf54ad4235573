import type { ToolAnnotations } from '@causeway/protocol'

/** `write` changes the app's own data; `execute` runs programs or has effects outside the app. */
export type Scope = 'read' | 'write' | 'execute'

export interface Access {
  readonly name: string
  /** The token's name, or `#` and its digest. */
  readonly owner: string
  allows(app: string, scope: Scope): boolean
}

export const getOwner = (access: Access | undefined): string => access?.owner ?? ''

export interface TokenLine {
  readonly token: string
  readonly access: Omit<Access, 'owner'>
}

const scopes: ReadonlySet<string> = new Set<Scope>(['read', 'write', 'execute'])
const tokenPattern = /^[\x21-\x7e]{16,512}$/
const namePattern = /^[A-Za-z0-9._-]{1,64}$/
const grantPattern = /^([a-z0-9]+|\*):([a-z]+(?:,[a-z]+)*)$/

/**
 * Parses lines of `<token> [name] [app:scope,scope …]`; `*` means every app. A token without grants has all
 * scopes.
 */
export function parseTokens(text: string) {
  const lines: TokenLine[] = []
  /** `problem` never contains the token. `line` is 1-based. */
  const problems: { readonly line: number; readonly problem: string }[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const parsed = parseLine(line)
    if (typeof parsed === 'string') problems.push({ line: index + 1, problem: parsed })
    else if (lines.some(({ token }) => token === parsed.token))
      problems.push({ line: index + 1, problem: 'the token is a duplicate of an earlier line' })
    else lines.push(parsed)
  }
  return { lines, problems }
}

function parseLine(line: string): TokenLine | string {
  const [token = '', ...words] = line.trim().split(/\s+/)
  if (!tokenPattern.test(token)) return 'a token must have 16 to 512 visible ASCII characters'
  const name = words[0] === undefined || words[0].includes(':') ? '' : (words.shift() ?? '')
  if (name !== '' && !namePattern.test(name))
    return 'a name must have only letters, digits, dots, underscores and hyphens'
  const grants = new Map<string, ReadonlySet<string>>()
  for (const word of words) {
    const [, app, list] = grantPattern.exec(word) ?? []
    const grantedScopes = list?.split(',') ?? []
    if (app === undefined || !grantedScopes.every((scope) => scopes.has(scope)))
      return `not of the form app:read,write,execute: ${word}`
    grants.set(app, new Set([...(grants.get(app) ?? []), ...grantedScopes]))
  }
  // Grants for an app replace those for `*`.
  const allows = (app: string, scope: Scope): boolean =>
    grants.size === 0 || (grants.get(app) ?? grants.get('*'))?.has(scope) === true
  return { token, access: { name, allows } }
}

export const getToolScope = ({ readOnlyHint, openWorldHint }: ToolAnnotations): Scope =>
  readOnlyHint === true ? 'read' : openWorldHint === true ? 'execute' : 'write'

export const getMethodScope = (method: string): Scope => (method === 'GET' ? 'read' : 'write')
