import { isObject } from '@causeway/protocol'

export interface ConvertedEntry {
  readonly type?: 'http' | 'sse'
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly causeway: Readonly<Record<string, unknown>>
}

/** Returns the problem as a string if the entry is invalid. */
export function convertEntry(raw: unknown, client?: string): ConvertedEntry | string {
  if (!isObject(raw)) return 'the entry is not an object'
  const url = [raw.httpUrl, raw.url, raw.serverUrl].find((value) => typeof value === 'string')
  const causeway = convertOptions(raw)
  if (typeof url === 'string') {
    // In Gemini CLI, `url` means HTTP+SSE of MCP 2024-11-05.
    const isSse =
      raw.type === 'sse' || (client === 'gemini' && raw.httpUrl === undefined && raw.type !== 'http')
    const headers = convertHeaders(raw)
    const type = isSse ? 'sse' : 'http'
    return { type, url: translate(url), ...(Object.keys(headers).length > 0 && { headers }), causeway }
  }
  // Older versions of Zed nest the command.
  const process = isObject(raw.command) ? { ...raw.command, command: raw.command.path } : raw
  if (typeof process.command !== 'string' || process.command === '')
    return 'the entry has neither a command nor a URL'
  const env = { ...inheritVariables(raw.env_vars), ...toTexts(process.env) }
  const entry = {
    command: translate(process.command),
    args: toList(process.args).map(translate),
    ...(Object.keys(env).length > 0 && { env }),
    ...(typeof raw.cwd === 'string' && { cwd: translate(raw.cwd) }),
    causeway,
  }
  return unwrapMcpRemote(entry) ?? entry
}

function convertOptions(raw: object): Record<string, unknown> {
  const { enabled, disabled, includeTools, excludeTools, enabled_tools, disabled_tools, oauth } =
    raw as Record<string, unknown>
  const allow = toList(includeTools ?? enabled_tools)
  const deny = toList(excludeTools ?? disabled_tools)
  const { clientId, scopes } = isObject(oauth) ? oauth : {}
  const login = {
    ...(typeof clientId === 'string' && { clientId }),
    ...(Array.isArray(scopes) && scopes.length > 0 && { scope: toList(scopes).join(' ') }),
  }
  return {
    needsApproval: true,
    ...((enabled === false || disabled === true) && { enabled: false }),
    ...(allow.length + deny.length > 0 && {
      tools: { ...(allow.length > 0 && { allow }), ...(deny.length > 0 && { deny }) },
    }),
    ...(Object.keys(login).length > 0 && { oauth: login }),
  }
}

function convertHeaders(raw: Record<string, unknown>): Record<string, string> {
  const token = raw.bearer_token_env_var
  const fromVariables = Object.entries(toTexts(raw.env_http_headers)).map(([name, variable]) => [
    name,
    `\${${variable}}`,
  ])
  return {
    ...toTexts(raw.headers ?? raw.http_headers),
    ...Object.fromEntries(fromVariables),
    ...(typeof token === 'string' && { Authorization: `Bearer \${${token}}` }),
  }
}

const translate = (text: string): string =>
  text
    .replaceAll(/\$\{env:([^{}]+)\}/g, '${$1}')
    .replaceAll(/\$\{input:([^{}]+)\}/g, '${secret:$1}')
    .replaceAll('${workspaceFolder}', '${project}')
    .replaceAll('${workspaceRoot}', '${project}')
    .replaceAll('${userHome}', '${HOME}')

/** Gemini CLI also accepts `$NAME`. */
const translateValue = (text: string): string => translate(text.replace(/^\$([A-Za-z_]\w*)$/, '${$1}'))

function toTexts(value: unknown): Record<string, string> {
  if (!isObject(value)) return {}
  const texts = Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' || typeof text === 'number' || typeof text === 'boolean'
      ? [[key, translateValue(String(text))]]
      : [],
  )
  return Object.fromEntries(texts)
}

const toList = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

const inheritVariables = (names: unknown): Record<string, string> =>
  Object.fromEntries(toList(names).map((name) => [name, `\${${name}}`]))

function unwrapMcpRemote({
  command = '',
  args = [],
  env = {},
  causeway,
}: ConvertedEntry): ConvertedEntry | undefined {
  const words = [command, ...args]
  const at = words.findIndex((word) => /(^|[\\/])mcp-remote(@[\w.-]+)?$/.test(word))
  const rest = words.slice(at + 1)
  const url = rest.find((word) => /^https?:\/\//i.test(word))
  if (at < 0 || url === undefined) return undefined
  // mcp-remote expands variables of its environment.
  const expand = (text: string) =>
    text.replaceAll(/\$\{(\w+)\}/g, (reference, name: string) => env[name] ?? reference)
  const headers = listValues(rest, '--header').flatMap((header) => {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(header) ?? []
    return name === undefined || value === undefined ? [] : [[name, expand(value)]]
  })
  const [transport = ''] = listValues(rest, '--transport')
  const clientId = /"client_id"\s*:\s*"([^"]+)"/.exec(
    listValues(rest, '--static-oauth-client-info')[0] ?? '',
  )?.[1]
  return {
    type: transport.startsWith('sse') ? 'sse' : 'http',
    url,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    causeway: { ...causeway, ...(clientId !== undefined && { oauth: { clientId } }) },
  }
}

const listValues = (words: readonly string[], flag: string): readonly string[] =>
  words.flatMap((word, index) => {
    if (word === flag) return words[index + 1] ?? []
    return word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : []
  })
