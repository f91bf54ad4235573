import type { Log } from './debug-log.ts'

/** A server that starts may accept connections before it answers. */
const deadlineMs = 1000

/** True when the server at this origin says of itself that it takes calls. */
export async function isHealthy(origin: string, log: Log): Promise<boolean> {
  // Only a bridge that starts a server needs a second HTTP client.
  const { get } = await import('node:http')
  return new Promise((resolve) => {
    const request = get(`${origin}/health`, { agent: false, timeout: deadlineMs }, (response) => {
      response.resume()
      // One that wants a token takes calls too.
      resolve(response.statusCode === 200 || response.statusCode === 401)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', (error) => {
      log(`not healthy: ${error.message}`)
      resolve(false)
    })
  })
}
