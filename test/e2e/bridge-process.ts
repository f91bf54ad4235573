import type { Test } from 'tap'
import { type Client, type Start, startBridge } from '../../bridge/test/client.ts'

/** Starts a bridge and completes the handshake. Rejects with the bridge's stderr if it exits first. */
export async function openBridge(t: Test, start: Start): Promise<Client> {
  const client = startBridge(t, start)
  const exited = client.exited.then(({ code }) => {
    throw new Error(`the bridge exited with ${code}: ${client.stderr.slice(-1000)}`)
  })
  await Promise.race([client.open(), exited])
  exited.catch(() => {}) // after the handshake, an exit is expected
  return client
}
