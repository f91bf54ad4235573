import { isCausewayError } from '@causeway/protocol'
import { findServer } from '../../process/server-file.ts'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { readFirstToken } from '../server-health.ts'

const hostedRoute = '/api/hosted'

export interface HostedStatus {
  readonly name: string
  readonly app: string
  readonly state: string
  readonly tools: number
  readonly calls: number
  readonly errors: number
  readonly starts: number
  /** Tools that differ from the approved ones. */
  readonly changed: number
  /** What a person should check. */
  readonly warnings?: readonly string[]
  readonly last_error?: { readonly code: string; readonly message: string }
  readonly instances: readonly {
    readonly state: string
    readonly pid?: number
    readonly project?: string
    readonly in_flight: number
  }[]
}

/** Returns `undefined` without a running server that reports states. */
export async function findStatuses({
  config,
  note,
}: Pick<CommandCall, 'config' | 'note'>): Promise<ReadonlyMap<string, HostedStatus> | undefined> {
  const found = findServer(config().dataDir)
  if (found.state !== 'running') return undefined
  const { url, token_file } = found.server
  const client = new ServerClient(url, readFirstToken(token_file ?? config().tokenFile))
  try {
    const { servers } = (await client.get(hostedRoute)) as { servers: readonly HostedStatus[] }
    return new Map(servers.map((server) => [server.name, server]))
  } catch (error) {
    if (!isCausewayError(error)) throw error
    note(`the states are not known: ${error.message}`)
    return undefined
  }
}
