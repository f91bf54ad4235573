/**
 * mcp-proxy's way from stdio to a server, which its program does not offer: `node mcp-proxy-stdio.mjs <module> <url>`.
 * JavaScript, because Node's stripping of types would count as start and memory.
 */
import { pathToFileURL } from 'node:url'

const [module, url] = process.argv.slice(2)
const { startStdioServer } = await import(pathToFileURL(module).href)
await startStdioServer({ serverType: 'HTTPStream', url })

// It does not end with its stdin, so a killed benchmark would leave it behind.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.exit(), 1000).unref()
