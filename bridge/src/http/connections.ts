import type { LookupFunction, Socket } from 'node:net'
import buildConnector from 'undici/lib/core/connect.js'
import symbols from 'undici/lib/core/symbols.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { createSettingError } from '../errors.ts'
import type { Connection } from '../settings/settings.ts'
import { readFlagFile } from '../stages/private-files.ts'
import type { Connector, TlsOptions } from './proxy.ts'
import type { Target } from './target.ts'

export type Connections = Pick<Pool, 'dispatch' | 'destroy'>

/** Calls may take hours, and streams may be silent. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 }

/** Closes idle connections after at most 30 s. Without this, the server's hint applies (72 s with Fastify). */
const idleConnections = { keepAliveMaxTimeout: 30_000 }

/** `localhost` means both loopback addresses (RFC 6761, section 6.3). */
const lookupLoopback: LookupFunction = (_hostname, options, callback) => {
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  if (options.all) callback(null, addresses)
  else callback(null, '127.0.0.1', 4)
}

/** Connects on the first request. Throws like `openConnector`. */
export async function openConnections(
  target: Target,
  connection: Connection,
  env: NodeJS.ProcessEnv,
): Promise<Connections> {
  const connect = resumeAtEnd(await openConnector(target, connection, env))
  return new Pool(target.origin, { ...noTimeouts, ...idleConnections, connect })
}

/** Throws `INVALID_SETTING` for an invalid certificate file or proxy. */
export async function openConnector(
  target: Target,
  connection: Connection,
  env: NodeJS.ProcessEnv,
): Promise<Connector> {
  const { origin, socketPath } = target
  const tls = await readTlsOptions(connection)
  const tunnel = await openTunnel(target, connection, { tls, env })
  if (tunnel !== undefined) return tunnel
  const isLocalhost = new URL(origin).hostname === 'localhost'
  return buildConnector({
    ...tls,
    autoSelectFamily: true,
    ...(socketPath === undefined ? isLocalhost && { lookup: lookupLoopback } : { socketPath }),
  })
}

async function openTunnel(
  { origin, socketPath }: Target,
  { proxy }: Connection,
  { tls, env }: { tls: TlsOptions; env: NodeJS.ProcessEnv },
): Promise<Connector | undefined> {
  if (proxy === undefined) return undefined
  if (socketPath !== undefined)
    throw createSettingError('--proxy cannot be used with a Unix socket', 'omit --proxy')
  const { findProxy, openTunnel } = await import('./proxy.ts')
  const url = findProxy(origin, proxy, env)
  return url === undefined ? undefined : openTunnel(url, tls)
}

async function readTlsOptions({ ca, insecure }: Connection): Promise<TlsOptions> {
  const { rootCertificates } = ca === undefined ? { rootCertificates: [] } : await import('node:tls')
  return {
    ...(ca !== undefined && { ca: [...rootCertificates, readCertificates(ca)] }),
    ...(insecure && { rejectUnauthorized: false }),
  }
}

function readCertificates(path: string): string {
  const text = readFlagFile('--ca', path)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw createSettingError(`the file of --ca contains no certificate: ${path}`, 'use a PEM file')
}

interface Parser {
  readonly llhttp: { llhttp_resume(ptr: number): void }
  readonly ptr: number
  paused: boolean
  resume(): void
}

/**
 * Resumes a paused response when its connection ends. Otherwise, an assertion of undici 7 fails and ends the process
 * (https://github.com/nodejs/undici/issues/5360).
 */
function resumeAtEnd(connect: Connector): Connector {
  return (address, callback) =>
    connect(address, (...result) => {
      const [, socket] = result
      // Runs before undici's listener, and after all data has been read.
      socket?.once('end', () => resumeParser(socket))
      callback(...result)
    })
}

function resumeParser(socket: Socket & { readonly [symbols.kParser]?: Parser | null }): void {
  const parser = socket[symbols.kParser]
  if (!parser?.paused) return
  parser.resume()
  if (!parser.paused) return
  // A body without a length ends when the connection closes, which pauses the parser again.
  parser.llhttp.llhttp_resume(parser.ptr)
  parser.paused = false
}
