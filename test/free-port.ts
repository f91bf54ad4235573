import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ports that systems give to connections and to port 0: these could take a port before it is used. */
const range = { first: 10_000, end: 32_000 }

/** Returns different free ports. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = new Map<number, Server>()
  while (servers.size < count) {
    const port = randomInt(range.first, range.end)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      servers.set(port, server)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  for (const server of servers.values()) await once(server.close(), 'close')
  return [...servers.keys()]
}

/** Returns a free port. */
export async function findFreePort(): Promise<number> {
  const [port] = await findFreePorts(1)
  return port as number // there is one
}
