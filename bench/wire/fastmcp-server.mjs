/**
 * FastMCP as documented, over HTTP with sessions: `node fastmcp-server.mjs <module>`. JavaScript with FastMCP's schema library, because
 * FastMCP is installed outside this checkout.
 */

import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { pathToFileURL } from 'node:url'
import { about, echo, toolNames } from '../hundred-tools.ts'

const [module = ''] = process.argv.slice(2)
const { FastMCP } = await import(pathToFileURL(module).href)
const { z } = createRequire(module)('zod')

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' })
for (const name of toolNames)
  server.addTool({
    name,
    description: about,
    parameters: z.object({
      text: z.string().describe('the text to give back'),
      times: z.number().int().min(1).max(9).default(1).describe('how often it is repeated'),
    }),
    execute: async (args) => JSON.stringify(echo(args)),
  })
for (const end of ['disconnect', 'SIGTERM']) process.on(end, () => process.exit())
const port = await freePort()
await server.start({ transportType: 'httpStream', httpStream: { host: '127.0.0.1', port, endpoint: '/mcp' } })
process.stderr.write(`http://127.0.0.1:${port}\n`)

/** fastmcp does not accept port 0. */
function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
