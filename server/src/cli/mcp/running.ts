import type { HostedServerStatus } from '@causeway/gateway'
import { isCausewayError } from '@causeway/protocol'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'

export const hostedRoute = (name: string, path: string): string =>
  `/api/hosted/${encodeURIComponent(name)}/${path}`

/** Returns `undefined` without a running server that reports states. */
export async function findStatuses({
  config,
  note,
}: Pick<CommandCall, 'config' | 'note'>): Promise<ReadonlyMap<string, HostedServerStatus> | undefined> {
  const client = ServerClient.findRunning({ config })
  if (client === undefined) return undefined
  try {
    const { servers } = (await client.get('/api/hosted')) as { servers: readonly HostedServerStatus[] }
    return new Map(servers.map((server) => [server.name, server]))
  } catch (error) {
    if (!isCausewayError(error)) throw error
    note(`the states are not known: ${error.message}`)
    return undefined
  }
}
