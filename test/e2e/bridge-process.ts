import type { Test } from 'tap'
import { type Client, type Start, startBridge } from '../../bridge/test/client.ts'

/** Starts a bridge and makes its handshake; fails at once, with what it wrote, where it ends instead. */
export async function openBridge(t: Test, start: Start): Promise<Client> {
  const client = startBridge(t, start)
  const ended = client.exited.then(({ code }) => {
    throw new Error(`the bridge ended with ${code}: ${client.stderr.slice(-1000)}`)
  })
  await Promise.race([client.open(), ended])
  ended.catch(() => {}) // from now on its end is no failure
  return client
}
