import { GatewayError } from '../errors.ts'
import type { Endpoint, HttpEndpoint, StdioEndpoint } from './domain/endpoint.ts'
import { type Expansion, expandText, listSecretNames, type Variables } from './domain/expand.ts'
import type { HostedServer, OAuthOptions } from './domain/server-schema.ts'

/** An endpoint with expanded variables. `env` is the complete environment. */
export type RenderedEndpoint = Endpoint & {
  /** Values of `secrets.json` that the endpoint contains. */
  readonly secrets?: readonly string[]
}

/** Variables that every process inherits, as in the MCP SDK. */
const inheritedNames =
  process.platform === 'win32'
    ? [
        ...['APPDATA', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PATHEXT', 'PROCESSOR_ARCHITECTURE'],
        ...['PROGRAMFILES', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'USERNAME', 'USERPROFILE'],
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/** Throws `VARIABLE_UNSET`, and `GATEWAY_CONFIG_INVALID` if the URL is invalid. */
export function renderEndpoint(server: HostedServer, variables: Variables): RenderedEndpoint {
  const expander = new Expander(server.name, variables)
  const { endpoint } = server
  const renderedEndpoint =
    endpoint.kind === 'stdio'
      ? renderStdio(endpoint, { server, variables, expander })
      : renderHttp(endpoint, expander)
  expander.throwIfUnset()
  if (renderedEndpoint.kind !== 'stdio') checkHttp(renderedEndpoint, server.name)
  const secrets = [...expander.secrets]
  return secrets.length === 0 ? renderedEndpoint : { ...renderedEndpoint, secrets }
}

/** Throws `VARIABLE_UNSET`. */
export function renderOAuth(server: HostedServer, variables: Variables): OAuthOptions {
  const expander = new Expander(server.name, variables)
  const renderedOptions = Object.fromEntries(
    Object.entries(server.oauth ?? {}).map(([key, value]) => [
      key,
      typeof value === 'string' ? expander.expand(value) : value,
    ]),
  )
  expander.throwIfUnset()
  return renderedOptions
}

function renderStdio(
  { command, args, env, cwd }: StdioEndpoint,
  { server, variables, expander }: { server: HostedServer; variables: Variables; expander: Expander },
): StdioEndpoint {
  const expandedEnv = expander.expandRecord(env)
  return {
    kind: 'stdio',
    command: expander.expand(command),
    args: args.map((arg) => expander.expand(arg)),
    env: { ...inheritEnvironment(variables.env, server.path), ...expandedEnv },
    cwd: cwd === undefined ? variables.project : expander.expand(cwd),
  }
}

const renderHttp = ({ kind, url, headers }: HttpEndpoint, expander: Expander): HttpEndpoint => ({
  kind,
  url: expander.expand(url),
  headers: expander.expandRecord(headers),
})

/** Omits shell functions, whose values start with `()`. */
function inheritEnvironment(env: Variables['env'], path: string | undefined): Record<string, string> {
  const inheritedEntries = inheritedNames.flatMap((name) => {
    const value = name === 'PATH' ? (path ?? env.PATH) : env[name]
    return value === undefined || value.startsWith('()') ? [] : [[name, value] as const]
  })
  return Object.fromEntries(inheritedEntries)
}

/** Messages omit values, which may be secret. */
function checkHttp({ url, headers }: HttpEndpoint, server: string): void {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw createInvalidError(server, 'url must be an http or https URL')
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw createInvalidError(server, `the header ${name} contains characters that HTTP does not permit`)
}

const createInvalidError = (server: string, problem: string) =>
  new GatewayError('GATEWAY_CONFIG_INVALID', `the server "${server}" is invalid: ${problem}`, {
    data: { server },
  })

class Expander {
  readonly secrets = new Set<string>()
  readonly #server: string
  readonly #variables: Variables
  readonly #unsetReferences = new Set<string>()

  constructor(server: string, variables: Variables) {
    this.#server = server
    this.#variables = variables
  }

  expand(text: string): string {
    const { text: expandedText, unsetReferences }: Expansion = expandText(text, this.#variables)
    for (const reference of unsetReferences) this.#unsetReferences.add(reference)
    for (const name of listSecretNames(text)) this.secrets.add(this.#variables.secrets[name] ?? '')
    return expandedText
  }

  expandRecord(texts: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.expand(text)]))
  }

  throwIfUnset(): void {
    const unsetReferences = [...this.#unsetReferences]
    if (unsetReferences.length === 0) return
    const isProjectMissing = unsetReferences.every((reference) => reference === '${project}')
    throw new GatewayError(
      isProjectMissing ? 'PROJECT_UNKNOWN' : 'VARIABLE_UNSET',
      `the server "${this.#server}" needs ${unsetReferences.join(', ')}`,
      { data: { server: this.#server, variables: unsetReferences } },
    )
  }
}
