import { CausewayError } from '@causeway/protocol'
import type Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { Connections, TlsOptions } from './connections.ts'
import type { Target } from './target.ts'

interface Options {
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly tls: TlsOptions
}

/** Connections through an HTTP proxy, by CONNECT; `env` takes the proxy from the usual variables, NO_PROXY included. */
export function openProxies(
  { socketPath }: Target,
  proxy: string,
  { tls, ...timeouts }: Options,
): Connections {
  if (socketPath !== undefined)
    throw new CausewayError('INVALID_SETTING', 'a Unix socket is not reached through a proxy', {
      remedy: 'leave out --proxy',
    })
  const options = { ...timeouts, requestTls: tls, connect: tls }
  const open = (): Dispatcher =>
    proxy === 'env' ? new EnvHttpProxyAgent(options) : new ProxyAgent({ ...options, uri: proxyUrl(proxy) })
  return { calls: open(), streams: open() }
}

function proxyUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  // The text may hold a password.
  throw new CausewayError('INVALID_SETTING', 'not the URL of an HTTP proxy: --proxy', {
    remedy: 'give one like http://proxy:3128, or env',
  })
}
