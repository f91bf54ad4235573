import { groups, type Option } from './options.ts'

const column = 24

function formatOption([name, { short, value, env, about }]: readonly [string, Option]): string {
  const flag = `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
  const lines = [...about.split('\n'), ...(env === undefined ? [] : [`[${env}]`])]
  const isLong = flag.length > column - 2
  return [
    ...(isLong ? [flag] : []),
    ...lines.map((line, at) => `${(at === 0 && !isLong ? flag : '').padEnd(column)}${line}`),
  ].join('\n')
}

const formatGroup = ([title, options]: readonly [string, Readonly<Record<string, Option>>]): string =>
  [`${title}:`, ...Object.entries(options).map(formatOption)].join('\n')

export const usage = `causeway-bridge: connects an MCP client that uses stdio to a server that uses HTTP

Usage: causeway-bridge [--url <url>] [options]
       causeway-bridge --doctor

Reads JSON-RPC messages from standard input, one per line, sends each to the server, and writes the
responses to standard output. MCP clients start this program; it is not interactive.

Names in [brackets] are environment variables. They apply if the flag is missing.

${Object.entries(groups).map(formatGroup).join('\n\n')}

Environment variables without a flag:
  DEBUG=true            write the log mcp_wrapper.log to the folder for temporary files
  CAUSEWAY_SESSION      name of this client's state on the server
                        (default: a new name per process)

Examples:
  claude mcp add causeway -- causeway-bridge --url http://localhost:3100/mcp
  causeway-bridge --doctor --url https://mcp.example.org/mcp --token-file ~/.config/mcp-token
  causeway-bridge --app replay --only 'get_*,find_*'
`
