import { CausewayError, decodePercent } from '@causeway/protocol'

/** Decoded variables of a path or URI. */
export type Variables = Readonly<Record<string, string>>

export interface UriTemplate {
  readonly text: string
  /** `replay` in `replay://recordings/{recording}`. */
  readonly scheme: string
  readonly variables: readonly string[]
  match(uri: string): Variables | undefined
}

const expression = /\{([a-z][a-z0-9_]*)\}/g

const maxUriLength = 8192

/** Compiles `replay://recordings/{recording}/frames/{frame_id}`. Values do not contain a slash. Throws `INVALID_APP`. */
export function uriTemplate(text: string): UriTemplate {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(text)?.[1]
  if (scheme === undefined) throw new CausewayError('INVALID_APP', `resource without a scheme: ${text}`)
  const variables = [...text.matchAll(expression)].map((match) => match[1] as string)
  const pattern = text
    .split(expression)
    .map((segment, index) =>
      index % 2 === 0 ? segment.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&') : '([A-Za-z0-9._~%-]+)',
    )
    .join('')
  const fullPattern = new RegExp(`^${pattern}$`)
  return {
    text,
    scheme,
    variables,
    match(uri) {
      const match = uri.length > maxUriLength ? null : fullPattern.exec(uri)
      if (match === null) return undefined
      const values = match.slice(1).map(decodePercent)
      if (values.includes(undefined)) return undefined
      return Object.fromEntries(variables.map((name, index) => [name, values[index] as string]))
    },
  }
}
