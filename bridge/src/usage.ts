/** What `--help` prints. */
export const usage = `causeway-bridge: connects an MCP client that speaks stdio to a server that speaks HTTP.

Usage: causeway-bridge [--url <url>]

It reads JSON-RPC messages from standard input, one per line, posts each to the server, and writes the
answers to standard output. Start it from an MCP client; there is nothing to type into it.

Options:
  --url <url>         the server (default http://localhost:3100/mcp)
  --max-line <bytes>  longest line written to the client; a longer answer is replaced by an error that
                      says so, because many clients drop it silently (default 10420224; 0: no limit)
  --drain <ms>        how long answers in flight are waited for when the client ends (default 5000)
  -h, --help          this text
  -v, --version       the version

Environment:
  MCP_SERVER_URL      as --url; the flag wins
  DEBUG=true          write mcp_wrapper.log into the system's folder for temporary files
  CAUSEWAY_SESSION    a name for this client's state on the server (default: a new one per process)
  CAUSEWAY_MAX_LINE_BYTES, CAUSEWAY_DRAIN_MS    as --max-line and --drain

Example, for Claude Code:
  claude mcp add causeway -- causeway-bridge --url http://localhost:3100/mcp
`
