/** URI templates of resources: variables are slash-free ids, decoded here and nowhere else. */
import { CausewayError } from '@causeway/protocol'

/** Values of a template's variables, decoded. */
export type Variables = Readonly<Record<string, string>>

/** A compiled template. */
export interface UriTemplate {
  readonly text: string
  /** `replay` of `replay://recordings/{recording}` */
  readonly scheme: string
  readonly variables: readonly string[]
  /** The variables of a URI that fits, else undefined. */
  match(uri: string): Variables | undefined
  /** The URI of these variables; throws `INVALID_PARAMS` where one is missing or empty. */
  expand(variables: Variables): string
}

const expression = /\{([a-z][a-z0-9_]*)\}/g

/** Characters of a URI. A longer one matches no template, so that no app looks it up or stores it. */
const maxUriLength = 8192

/** Compiles `replay://recordings/{recording}/frames/{frame_id}`; a URI without variables is a template too. */
export function uriTemplate(text: string): UriTemplate {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(text)?.[1]
  if (scheme === undefined) throw new CausewayError('INVALID_APP', `resource without a scheme: ${text}`)
  const variables = [...text.matchAll(expression)].map((found) => found[1] as string)
  const pattern = text
    .split(expression)
    .map((part, index) =>
      index % 2 === 0 ? part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&') : '([A-Za-z0-9._~%-]+)',
    )
    .join('')
  const whole = new RegExp(`^${pattern}$`)
  return {
    text,
    scheme,
    variables,
    match(uri) {
      const found = uri.length > maxUriLength ? null : whole.exec(uri)
      if (found === null) return undefined
      const values = found.slice(1).map(decode)
      if (values.includes(undefined)) return undefined
      return Object.fromEntries(variables.map((name, index) => [name, values[index] as string]))
    },
    expand: (values) =>
      text.replace(expression, (_, name: string) => {
        const value = values[name]
        if (value === undefined || value === '')
          throw new CausewayError('INVALID_PARAMS', `no value for {${name}} of ${text}`)
        return encodeURIComponent(value)
      }),
  }
}

/** Percent-decodes one segment; undefined where it is not valid UTF-8. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
