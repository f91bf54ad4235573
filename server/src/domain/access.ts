/** Who may do what: the lines of a token file, and the scope that a call needs. */
import type { ToolAnnotations } from '@causeway/protocol'

/** `read` changes nothing, `write` changes the app's own data, `execute` runs or reaches what is outside of it. */
export type Scope = 'read' | 'write' | 'execute'

/** A caller that has shown a token. */
export interface Access {
  /** The name of the token; clients of two names share no state. Empty for a token without one. */
  readonly name: string
  /**
   * Owns the sessions, state and tasks that are opened with the token: its name, or `#` and a digest of a token without a
   * name. Tokens under one name are one owner, so that a token can be replaced while sessions last.
   */
  readonly owner: string
  /** True where the token has this scope on an app, given by its path. */
  allows(app: string, scope: Scope): boolean
}

/** Returns the owner of what a caller opens: empty if no token is required. */
export const getOwner = (access: Access | undefined): string => access?.owner ?? ''

/** One token and what it permits. */
export interface TokenLine {
  readonly token: string
  readonly access: Omit<Access, 'owner'>
}

/** What is wrong with a token file, without the token. */
export interface TokenProblem {
  /** From 1. */
  readonly line: number
  readonly problem: string
}

const scopes: ReadonlySet<string> = new Set<Scope>(['read', 'write', 'execute'])
const tokenForm = /^[\x21-\x7e]{16,512}$/
const nameForm = /^[A-Za-z0-9._-]{1,64}$/
const grantForm = /^([a-z0-9]+|\*):([a-z]+(?:,[a-z]+)*)$/

/**
 * Reads the lines of a token file: `<token> [name] [app:scope,scope …]`, `*` for every app; without grants a token may do
 * everything. Empty lines and those that begin with `#` are left out.
 */
export function readTokens(text: string): {
  readonly lines: readonly TokenLine[]
  readonly problems: readonly TokenProblem[]
} {
  const lines: TokenLine[] = []
  const problems: TokenProblem[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const read = readLine(line)
    if (typeof read === 'string') problems.push({ line: index + 1, problem: read })
    else if (lines.some(({ token }) => token === read.token))
      problems.push({ line: index + 1, problem: 'the token stands on a line before' })
    else lines.push(read)
  }
  return { lines, problems }
}

function readLine(line: string): TokenLine | string {
  const [token = '', ...words] = line.trim().split(/\s+/)
  if (!tokenForm.test(token)) return 'a token has 16 to 512 visible ASCII characters'
  const name = words[0] !== undefined && !words[0].includes(':') ? words.shift() : ''
  if (name !== '' && !nameForm.test(name ?? ''))
    return 'a name has letters, digits, dots, underscores and hyphens'
  const grants = new Map<string, ReadonlySet<string>>()
  for (const word of words) {
    const [, app, list] = grantForm.exec(word) ?? []
    const given = list?.split(',') ?? []
    if (app === undefined || !given.every((scope) => scopes.has(scope)))
      return `not of the form app:read,write,execute: ${word}`
    grants.set(app, new Set([...(grants.get(app) ?? []), ...given]))
  }
  return { token, access: accessOf(name ?? '', grants) }
}

/** What is granted for an app by name replaces what is granted for all. */
const accessOf = (name: string, grants: ReadonlyMap<string, ReadonlySet<string>>): TokenLine['access'] => ({
  name,
  allows: (app, scope) => grants.size === 0 || (grants.get(app) ?? grants.get('*'))?.has(scope) === true,
})

/** The scope that a tool needs, by the hints of its declaration. */
export const scopeOf = ({ readOnlyHint, openWorldHint }: ToolAnnotations): Scope =>
  readOnlyHint === true ? 'read' : openWorldHint === true ? 'execute' : 'write'

/** The scope that a route needs which does not say it. */
export const scopeOfMethod = (method: string): Scope => (method === 'GET' ? 'read' : 'write')
