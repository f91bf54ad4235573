import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { rootCertificates } from 'node:tls'
import { CausewayError } from '@causeway/protocol'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import type Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { letGoAtEnd } from './let-go-at-end.ts'
import type { Connector, TlsOptions } from './proxy.ts'
import type { Connection } from './settings.ts'
import type { Target } from './target.ts'

/** The ways to the server: many connections for calls, one for the stream that never takes one from the calls. */
export interface Connections {
  readonly calls: Dispatcher
  readonly streams: Dispatcher
}

/** Calls may take hours and streams may be silent for ever: the server, not a timer of ours, ends them. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 }

/** `localhost` means both loopback addresses, whatever the resolver says (RFC 6761, section 6.3). */
const lookupLoopback: LookupFunction = (_hostname, options, callback) => {
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  if (options.all) callback(null, addresses)
  else callback(null, '127.0.0.1', 4)
}

/** Opens nothing yet. Throws `INVALID_SETTING` for a certificate file that cannot be read, or a bad proxy. */
export async function openConnections(
  target: Target,
  connection: Connection,
  env: NodeJS.ProcessEnv,
): Promise<Connections> {
  const { origin, socketPath } = target
  const tls = tlsOptions(connection)
  const tunnel = await openTunnel(target, connection, { tls, env })
  const isLocalhost = new URL(origin).hostname === 'localhost'
  const direct = () =>
    buildConnector({
      ...tls,
      autoSelectFamily: true,
      ...(socketPath === undefined ? isLocalhost && { lookup: lookupLoopback } : { socketPath }),
    }) as Connector // two tuples for a union of results
  const options = { ...noTimeouts, connect: letGoAtEnd(tunnel ?? direct()) }
  return { calls: new Pool(origin, options), streams: new Client(origin, options) }
}

/** The way through a proxy where one is asked for; its code is loaded only then. */
async function openTunnel(
  { origin, socketPath }: Target,
  { proxy }: Connection,
  { tls, env }: { tls: TlsOptions; env: NodeJS.ProcessEnv },
): Promise<Connector | undefined> {
  if (proxy === undefined) return undefined
  if (socketPath !== undefined)
    throw new CausewayError('INVALID_SETTING', 'a Unix socket is not reached through a proxy', {
      remedy: 'leave out --proxy',
    })
  const { proxyFor, tunnelThrough } = await import('./proxy.ts')
  const url = proxyFor(origin, proxy, env)
  return url === undefined ? undefined : tunnelThrough(url, tls)
}

function tlsOptions({ ca, insecure }: Connection): TlsOptions {
  return {
    ...(ca !== undefined && { ca: [...rootCertificates, readCertificates(ca)] }),
    ...(insecure && { rejectUnauthorized: false }),
  }
}

function readCertificates(path: string): string {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot read the file of --ca: ${path}`, {
      data: { path },
      cause,
    })
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new CausewayError('INVALID_SETTING', `the file of --ca holds no certificate: ${path}`, {
    remedy: 'give a PEM file',
  })
}
