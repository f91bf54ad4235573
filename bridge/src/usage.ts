import { type Option, options } from './options.ts'

/** The column in which the meaning of an option begins. */
const column = 24

const listed = Object.entries<Option>(options)
const groups = [...new Set(listed.map(([, { group }]) => group))]

const optionLines = ([name, { short, value, env, about }]: readonly [string, Option]): string => {
  const flag = `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
  const lines = [...about.split('\n'), ...(env === undefined ? [] : [`[${env}]`])]
  const isLong = flag.length > column - 2
  return [
    ...(isLong ? [flag] : []),
    ...lines.map((line, at) => `${(at === 0 && !isLong ? flag : '').padEnd(column)}${line}`),
  ].join('\n')
}

const groupText = (group: string): string =>
  [`${group}:`, ...listed.filter(([, option]) => option.group === group).map(optionLines)].join('\n')

/** What `--help` prints. */
export const usage = `causeway-bridge: connects an MCP client that speaks stdio to a server that speaks HTTP.

Usage: causeway-bridge [--url <url>] [options]
       causeway-bridge --doctor

It reads JSON-RPC messages from standard input, one per line, posts each to the server, and writes the
answers to standard output. Start it from an MCP client; there is nothing to type into it.

A name in [brackets] is the environment variable that is read where the flag is not given.

${groups.map(groupText).join('\n\n')}

By environment alone:
  DEBUG=true            write mcp_wrapper.log into the system's folder for temporary files
  CAUSEWAY_SESSION      a name for this client's state on the server
                        (default: a new one per process)

Examples:
  claude mcp add causeway -- causeway-bridge --url http://localhost:3100/mcp
  causeway-bridge --doctor --url https://mcp.example.org/mcp --token-file ~/.config/mcp-token
  causeway-bridge --app replay --only 'get_*,find_*'
`
