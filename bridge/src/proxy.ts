import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CausewayError } from '@causeway/protocol'

/** How TLS judges the certificate of the server, where that is not as usual. */
export interface TlsOptions {
  readonly ca?: string[]
  readonly rejectUnauthorized?: boolean
}

/** What undici asks a connector for. */
interface Wanted {
  readonly hostname: string
  readonly protocol: string
  readonly port: string
  readonly servername?: string
}

/** Makes connections for undici. */
export type Connector = (
  wanted: Wanted,
  callback: (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
) => void

/** The proxy to go through: as set, or for `env` that of the usual variables; undefined where those name none. */
export function proxyFor(origin: string, setting: string, env: NodeJS.ProcessEnv): URL | undefined {
  const text = setting === 'env' ? proxyOfEnvironment(new URL(origin), env) : setting
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:') return url
  // The text may hold a password.
  throw new CausewayError('INVALID_SETTING', 'not the URL of an HTTP proxy: --proxy', {
    remedy: 'give one like http://proxy:3128, or env',
  })
}

function proxyOfEnvironment({ protocol, hostname, port }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const read = (name: string): string | undefined => env[name] || env[name.toUpperCase()] || undefined
  const isSpared = (read('no_proxy') ?? '').split(/[\s,]+/).some((entry) => {
    const [, name = '', onlyPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    const isNamed = entry === '*' || (name !== '' && (hostname === name || hostname.endsWith(`.${name}`)))
    return isNamed && (onlyPort === undefined || onlyPort === (port || defaultPort(protocol)))
  })
  if (isSpared) return undefined
  return protocol === 'https:' ? read('https_proxy') : read('http_proxy')
}

const defaultPort = (protocol: string): string => (protocol === 'https:' ? '443' : '80')

/** Connections through an HTTP proxy by CONNECT (RFC 9110, section 9.3.6), for plain HTTP too: streams pass unread. */
export async function tunnelThrough(proxy: URL, tls: TlsOptions): Promise<Connector> {
  const { request } = await import('node:http')
  const name = decodeURIComponent(proxy.username)
  const basic = Buffer.from(`${name}:${decodeURIComponent(proxy.password)}`).toString('base64')
  return ({ hostname, protocol, port, servername = hostname }, callback) => {
    const address = `${hostname}:${port || defaultPort(protocol)}`
    const asked = request({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || 80,
      path: address,
      headers: { host: address, ...(name !== '' && { 'proxy-authorization': `Basic ${basic}` }) },
      agent: false,
    })
    asked.setTimeout(connectTimeoutMs, () =>
      asked.destroy(coded('UND_ERR_CONNECT_TIMEOUT', 'the proxy does not answer')),
    )
    asked.once('error', (error) => callback(error, null))
    asked.once('response', (answer) => {
      answer.destroy()
      callback(refused(answer.statusCode), null)
    })
    asked.once('connect', ({ statusCode }, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      if (statusCode !== 200) {
        socket.destroy()
        return callback(refused(statusCode), null)
      }
      if (protocol !== 'https:') return callback(null, socket)
      const secure = connectTls({ socket, servername, ALPNProtocols: ['http/1.1'], ...tls })
      secure.once('secureConnect', () => callback(null, secure))
      secure.once('error', (error) => callback(error, null))
    })
    asked.end()
  }
}

const refused = (status: number | undefined): Error =>
  coded('PROXY_REFUSED', `the proxy answered HTTP ${status}`)

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** As long as a direct connection may take to be made. */
const connectTimeoutMs = 10_000
