import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { nodeHttp } from '@causeway/protocol'
import type buildConnector from 'undici/lib/core/connect.js'
import { createSettingError } from '../errors.ts'

export interface TlsOptions {
  readonly ca?: string[]
  readonly rejectUnauthorized?: boolean
}

export type Connector = buildConnector.connector

/** Returns `undefined` for a direct connection. The setting `env` selects the proxy of the environment. */
export function findProxy(origin: string, setting: string, env: NodeJS.ProcessEnv): URL | undefined {
  const text = setting === 'env' ? readProxyVariables(new URL(origin), env) : setting
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:') return url
  // The message omits the text, which may contain a password.
  throw createSettingError(
    '--proxy is not the URL of an HTTP proxy',
    'use a URL such as http://proxy:3128, or env',
  )
}

function readProxyVariables({ protocol, hostname, port }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const readVariable = (name: string): string | undefined => env[name] || env[name.toUpperCase()] || undefined
  const isExcluded = (readVariable('no_proxy') ?? '').split(/[\s,]+/).some((entry) => {
    const [, name = '', excludedPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    const isMatch = entry === '*' || (name !== '' && (hostname === name || hostname.endsWith(`.${name}`)))
    return isMatch && (excludedPort === undefined || excludedPort === (port || getDefaultPort(protocol)))
  })
  if (isExcluded) return undefined
  return protocol === 'https:' ? readVariable('https_proxy') : readVariable('http_proxy')
}

const getDefaultPort = (protocol: string): string => (protocol === 'https:' ? '443' : '80')

/**
 * Connects through an HTTP proxy with CONNECT (RFC 9110, section 9.3.6), also for plain HTTP, so that the proxy does
 * not buffer streams.
 */
export async function openTunnel(proxy: URL, tls: TlsOptions): Promise<Connector> {
  const name = decodeURIComponent(proxy.username)
  const basicCredentials = Buffer.from(`${name}:${decodeURIComponent(proxy.password)}`).toString('base64')
  return ({ hostname, protocol, port, servername = hostname }, callback) => {
    const address = `${hostname}:${port || getDefaultPort(protocol)}`
    const connectRequest = nodeHttp().request({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || 80,
      path: address,
      headers: { host: address, ...(name !== '' && { 'proxy-authorization': `Basic ${basicCredentials}` }) },
      agent: false,
    })
    connectRequest.setTimeout(connectTimeoutMs, () =>
      connectRequest.destroy(createError('UND_ERR_CONNECT_TIMEOUT', 'the proxy does not respond')),
    )
    connectRequest.once('error', (error) => callback(error, null))
    connectRequest.once('response', (response) => {
      response.destroy()
      callback(createRejectionError(response.statusCode), null)
    })
    connectRequest.once('connect', ({ statusCode }, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      if (statusCode !== 200) {
        socket.destroy()
        return callback(createRejectionError(statusCode), null)
      }
      if (protocol !== 'https:') return callback(null, socket)
      const tlsSocket = connectTls({ socket, servername, ALPNProtocols: ['http/1.1'], ...tls })
      tlsSocket.once('secureConnect', () => callback(null, tlsSocket))
      tlsSocket.once('error', (error) => callback(error, null))
    })
    connectRequest.end()
  }
}

const createRejectionError = (status: number | undefined): Error =>
  createError('PROXY_REFUSED', `the proxy responded with HTTP ${status}`)

const createError = (code: string, message: string): Error => Object.assign(new Error(message), { code })

const connectTimeoutMs = 10_000
