import { isCausewayError } from '@causeway/protocol'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'

export const hostedRoute = (name: string, path: string): string =>
  `/api/hosted/${encodeURIComponent(name)}/${path}`

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
  const client = ServerClient.findRunning({ config })
  if (client === undefined) return undefined
  try {
    const { servers } = (await client.get('/api/hosted')) as { servers: readonly HostedStatus[] }
    return new Map(servers.map((server) => [server.name, server]))
  } catch (error) {
    if (!isCausewayError(error)) throw error
    note(`the states are not known: ${error.message}`)
    return undefined
  }
}
