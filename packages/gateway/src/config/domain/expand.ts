/** Values for variables in `mcp.json`. */
export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secrets: Readonly<Record<string, string>>
  /** Project folder that the client sent. */
  readonly project?: string | undefined
}

export interface Expansion {
  readonly text: string
  /** Variables without a value, as written: `${TOKEN}`. */
  readonly unsetReferences: readonly string[]
}

const variablePattern = /\$\{([^{}]*)\}/g

/**
 * Replaces `${VAR}`, `${VAR:-default}`, `${secret:NAME}` and `${project}`, not recursively. An empty
 * environment variable counts as set.
 */
export function expandText(text: string, variables: Variables): Expansion {
  const unsetReferences: string[] = []
  const expandedText = text.replaceAll(variablePattern, (reference, name: string) => {
    const value = findValue(name, variables)
    if (value === undefined) unsetReferences.push(reference)
    return value ?? ''
  })
  return { text: expandedText, unsetReferences }
}

function findValue(name: string, { env, secrets, project }: Variables): string | undefined {
  if (name === 'project') return project
  const [, secret] = /^secret:(.+)$/.exec(name) ?? []
  if (secret !== undefined) return Object.hasOwn(secrets, secret) ? secrets[secret] : undefined
  const [, key = name, fallback] = /^(.*?):-(.*)$/s.exec(name) ?? []
  return Object.hasOwn(env, key) ? (env[key] ?? fallback) : fallback
}

export const listSecretNames = (text: string): readonly string[] =>
  [...text.matchAll(variablePattern)].flatMap(([, name = '']) => /^secret:(.+)$/.exec(name)?.[1] ?? [])
