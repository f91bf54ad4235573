import { type Check, fail } from './check.ts'

/** The first match applies. */
const causes: readonly (readonly [code: RegExp, text: string, fix: string])[] = [
  [
    /^ECONNREFUSED$|^ENOENT$/,
    'no server is running there',
    'start the server (`npm start`), or correct --url',
  ],
  [/^EACCES$/, 'permission denied for the socket', 'check the permissions of the socket and its folder'],
  [/^ENOTFOUND$|^EAI_AGAIN$/, 'the host name cannot be resolved', 'check the host in --url'],
  [
    /^EPROTO$|WRONG_VERSION|^HPE_|^HTTPParserError$/,
    'the port uses another protocol',
    'check http:// or https:// and the port in --url',
  ],
  [/ALTNAME/, 'the certificate is for another host', 'use a host name that the certificate contains'],
  [/EXPIRED|NOT_YET_VALID/, 'the certificate has expired or is not valid yet', 'renew the certificate'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|^ERR_TLS/,
    'the certificate is not trusted',
    'pass the certificate of its issuer with --ca <file>',
  ],
  [
    /TIMEOUT|TIMEDOUT|UNREACH|^TimeoutError$/,
    'no response in time',
    'check the network and the firewall, and whether a proxy is required (--proxy)',
  ],
  [/^PROXY_REFUSED$/, 'the proxy rejected the connection', 'check the address, user and password of --proxy'],
  [
    /^ECONNRESET$|^UND_ERR_SOCKET$/,
    'the connection was closed',
    'see the log of the server; a TLS port requires https:// in --url',
  ],
]

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

export function explainUnreachable(error: unknown, proxy: string | undefined, env: NodeJS.ProcessEnv): Check {
  const { code, message } = findCause(error)
  const cause = causes.find(([pattern]) => pattern.test(code))
  const [, text, fix] = cause ?? ['', message, 'see the log of the server']
  const variable = proxyVariables.find((name) => env[name])
  const hint =
    proxy === undefined && variable !== undefined
      ? `; ${variable} is set, but the bridge uses a proxy only with --proxy env`
      : ''
  return fail('reachable', `${text} (${code})`, `${fix}${hint}`)
}

export const mayStartLater = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT'].includes(findCause(error).code)

function findCause(error: unknown): { code: string; message: string } {
  const { cause, errors } = error as { cause?: unknown; errors?: readonly unknown[] }
  const innerError = cause ?? errors?.[0]
  if (innerError instanceof Error) return findCause(innerError)
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown }
  return { code: String(code ?? name), message: String(message) }
}
