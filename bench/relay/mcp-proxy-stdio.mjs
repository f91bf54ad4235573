/**
 * mcp-proxy's path from stdio to a server, which its command does not offer: `node mcp-proxy-stdio.mjs <module> <url>`. JavaScript,
 * because type stripping would count as start time and memory.
 */
import { pathToFileURL } from 'node:url'

const [module, url] = process.argv.slice(2)
const { startStdioServer } = await import(pathToFileURL(module).href)
await startStdioServer({ serverType: 'HTTPStream', url })

// It does not exit when stdin closes, so a killed benchmark would leave it running.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.exit(), 1000).unref()
