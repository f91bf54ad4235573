import { escapeHiddenCharacters, type HostedServerStatus } from '@causeway/gateway'
import { describeEndpoint, findEndpointWarnings, type HostedServer } from '@causeway/gateway/config'
import { adviseCommand } from '../../process/welcome.ts'
import { type CommandCall, defineCommand } from '../command.ts'
import { type Fields, formatDuration, formatFields, formatTable } from '../format.ts'
import { describeServer, describeState, noteWarnings, redactEntry } from './describe-server.ts'
import { defineServerCommand, findStatuses, ServersFile } from './hosted-servers.ts'
import { describeLogin, findLogin } from './logins.ts'

const listFlags = { json: { about: 'print the servers as JSON' } }

export const listCommand = defineCommand({
  name: 'mcp list',
  about: 'list the hosted servers with their state',
  details: `Without a running Causeway, the state is what mcp.json says.`,
  flags: listFlags,
  exits: { 1: 'mcp.json, or an entry of it, is invalid' },
  examples: ['causeway mcp list', 'causeway mcp list --json'],
  run: (call) => listServers(call),
})

export async function listServers({ flags, ...call }: CommandCall<typeof listFlags>): Promise<number> {
  const { env, print, printJson, note } = call
  const file = new ServersFile(call)
  const { servers, problems } = file.read()
  const statuses = await findStatuses(call)
  if (flags.json) {
    const list = servers.map((server) => ({
      ...redactEntry(server),
      status: statuses?.get(server.name),
      login: findLogin(call, server),
    }))
    const invalid = problems.map(({ name, error }) => ({ name, problem: error.message }))
    printJson({ servers: list, problems: invalid })
  } else {
    for (const { name, error } of problems) note(`${name}: ${error.message}`)
    if (servers.length === 0)
      print(adviseCommand(`no servers in ${file.path}; causeway mcp add adds one`, env))
    for (const line of formatTable(servers.map((server) => toRow(call, server, statuses?.get(server.name)))))
      print(line)
    for (const { name, last_error: error } of statuses?.values() ?? [])
      if (error !== undefined)
        note(`${name}: ${describeFailure(error)}; causeway mcp logs ${name} prints its output`)
  }
  return problems.length === 0 ? 0 : 1
}

function toState(server: HostedServer, status: HostedServerStatus | undefined): string {
  const { state, last_error: error } = status ?? { state: 'not running' }
  return describeState(server) ?? (state === 'idle' && error !== undefined ? 'failed' : state)
}

const describeFailure = ({ code, message, ago_ms }: NonNullable<HostedServerStatus['last_error']>): string =>
  escapeHiddenCharacters(`${code}, ${formatDuration(ago_ms / 1000)} ago: ${message}`)

function toRow(
  call: Pick<CommandCall, 'config' | 'env'>,
  server: HostedServer,
  status: HostedServerStatus | undefined,
): readonly string[] {
  const state = toState(server, status)
  const tools = status?.tools === undefined ? '' : `${status.tools} tools`
  const count = status?.warnings?.length ?? 0
  const warnings = count === 0 ? '' : `${count} ${count === 1 ? 'warning' : 'warnings'}`
  const login = findLogin(call, server)?.state === 'logged_in' ? 'logged in' : ''
  return [server.name, state, server.share, tools, login, warnings, describeEndpoint(server.endpoint)]
}

export const showCommand = defineServerCommand({
  name: 'mcp show',
  about: 'show one hosted server: its entry, state and processes',
  details: 'Values of variables and headers, and the query of a URL, are not printed.',
  flags: { json: { about: 'print the server as JSON' } },
  exits: { 1: 'there is no such server, or its entry is invalid' },
  examples: ['causeway mcp show files'],
  async run({ args: [name = ''], flags, ...call }) {
    const { print, printJson } = call
    const server = new ServersFile(call).require(name)
    const status = (await findStatuses(call))?.get(name)
    if (flags.json) {
      printJson({ ...redactEntry(server), status, login: findLogin(call, server) })
      return 0
    }
    const state = toState(server, status)
    const login = describeLogin(findLogin(call, server))
    const rows = [...describeServer(server), ...login, ...describeStatus(status)]
    print(formatFields(`${name}: ${state}`, rows))
    noteWarnings(status?.warnings ?? findEndpointWarnings(server.endpoint), call.note)
    return 0
  },
})

function describeStatus(status: HostedServerStatus | undefined): Fields {
  if (status === undefined) return []
  const { app, instances, tools, calls, errors, starts, changed, last_error: error } = status
  return [
    ['served as', app],
    ['tools', String(tools)],
    ['calls', `${calls}, ${errors} failed`],
    ['starts', String(starts)],
    ['not approved', changed > 0 ? `${changed} changes; see causeway mcp approve --diff` : undefined],
    ['last error', error && describeFailure(error)],
    ...instances.map(
      ({ state, pid, project, in_flight }) =>
        [
          'process',
          [state, pid === undefined ? '' : `pid ${pid}`, project ?? '', `${in_flight} calls`]
            .filter(Boolean)
            .join(', '),
        ] as const,
    ),
  ]
}
