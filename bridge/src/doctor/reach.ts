import type { Reply } from '../reply.ts'
import { type Check, fail, ok } from './check.ts'

/** What an error of a connection means, by its code; the first that fits. */
const causes: readonly (readonly [RegExp, string, string])[] = [
  [/^ECONNREFUSED$|^ENOENT$/, 'nothing listens there', 'start the server (`npm start`), or correct --url'],
  [/^EACCES$/, 'the socket may not be opened', 'check the rights of the socket and its folder'],
  [/^ENOTFOUND$|^EAI_AGAIN$/, 'the host name is not known', 'check the host in --url'],
  [
    /^EPROTO$|WRONG_VERSION|^HPE_|^HTTPParserError$/,
    'that port speaks something else',
    'check http:// or https:// and the port in --url',
  ],
  [/ALTNAME/, 'the certificate is for another host', 'use the host name that the certificate names'],
  [/EXPIRED|NOT_YET_VALID/, 'the certificate is out of date', 'renew the certificate of the server'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|^ERR_TLS/,
    'the certificate is not trusted',
    'give the certificate of its issuer with --ca <file>',
  ],
  [
    /TIMEOUT|TIMEDOUT|UNREACH|^DEADLINE/,
    'no answer in time',
    'check the network, a firewall, and whether a proxy is needed (--proxy)',
  ],
  [/^PROXY_REFUSED$/, 'the proxy refused to connect', 'check the address, user and password of --proxy'],
  [
    /^ECONNRESET$|^UND_ERR_SOCKET$/,
    'the connection was cut',
    'see the log of the server; a port of TLS needs https:// in --url',
  ],
]

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

/** Why the server was not reached, and what to do. */
export function whyUnreachable(error: unknown, proxy: string | undefined, env: NodeJS.ProcessEnv): Check {
  const { code, message } = rootOf(error)
  const [, text, fix] = causes.find(([pattern]) => pattern.test(code)) ?? [
    '',
    message,
    'see the log of the server',
  ]
  const variable = proxyVariables.find((name) => env[name])
  const hint =
    proxy === undefined && variable !== undefined
      ? `; ${variable} is set, but the bridge goes through a proxy only with --proxy env`
      : ''
  return fail('reachable', `${text} (${code})`, `${fix}${hint}`)
}

/** The error that a connection failed with, below those that were wrapped around it. */
function rootOf(error: unknown): { code: string; message: string } {
  const { cause, errors } = error as { cause?: unknown; errors?: readonly unknown[] }
  const inner = cause ?? errors?.[0]
  if (inner instanceof Error) return rootOf(inner)
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown }
  return { code: String(code ?? name), message: String(message) }
}

/** Nothing listens yet, which is as it should be where the first call starts the server. */
export function startsLater(error: unknown): Check | undefined {
  if (!['ECONNREFUSED', 'ENOENT'].includes(rootOf(error).code)) return undefined
  return ok('reachable', 'nothing listens yet; the first call starts a server (--autostart)')
}

/** What the answer to a first request says about who may call; undefined where it lets us in. */
export function whyRefused({ status, body }: Reply): Check | undefined {
  const text = body?.toString('utf8') ?? ''
  if (status === 401)
    return fail(
      'token',
      'the server wants a token, or another one',
      'give it in a file with --token-file <file>',
    )
  if (status === 403 && /host/i.test(text))
    return fail(
      'host',
      'the server does not answer to this host name',
      'call it as localhost, or allow the name on the server',
    )
  if (status === 403)
    return fail('access', 'the server refuses this caller', 'check --token-file and --header')
  return undefined
}
