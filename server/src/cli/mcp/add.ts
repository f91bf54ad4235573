import { escapeHiddenCharacters, findCatalogueWarnings, GatewayError, probeServer } from '@causeway/gateway'
import {
  describeEndpoint,
  findEndpointWarnings,
  parseServer,
  renderEndpoint,
  renderRemote,
  SecretsFile,
  type Share,
  shares,
} from '@causeway/gateway/config'
import { LoginError, ServerLogin } from '@causeway/oauth'
import { version } from '../../process/version.ts'
import { type CommandCall, createUsageError, defineCommand } from '../command.ts'
import { formatFields } from '../format.ts'
import { describeServer, noteWarnings } from './describe-server.ts'
import { ServersFile } from './hosted-servers.ts'
import type { ConvertedEntry } from './import/convert-entry.ts'
import { moveSecrets } from './import/move-secrets.ts'
import { openLogins } from './logins.ts'

const flags = {
  url: { value: '<url>', about: 'connect to a remote server instead of starting a process' },
  sse: { about: 'the remote server uses the old HTTP+SSE transport' },
  header: { value: '<name: value>', many: true, about: 'HTTP header of every request; may be repeated' },
  env: { value: '<name=value>', many: true, about: 'variable of the process; may be repeated' },
  share: { value: '<mode>', about: `${shares.join(', ')}; by default what is safe for the package` },
  force: { about: 'replace an entry, and add a server that cannot be started' },
} as const

export const addCommand = defineCommand({
  name: 'mcp add',
  about: 'start a server once, print what it offers, and host it',
  forms: ['<name> [<command>…]'],
  details: `Literal secrets in variables, headers and arguments are moved to secrets.json. The definitions that the running server lists first
are the approved ones.`,
  flags,
  exits: { 1: 'the server cannot be started, or the entry exists' },
  examples: [
    'causeway mcp add memory -- npx -y @modelcontextprotocol/server-memory@2026.8.31',
    'causeway mcp add github --url https://api.githubcopilot.com/mcp/ --header "Authorization: Bearer …"',
  ],
  async run(call) {
    const { args, flags, print, note, cwd } = call
    const [name = ''] = args
    const file = new ServersFile(call)
    const secrets = new SecretsFile(call.config().dataDir)
    if (file.readEntry(name) !== undefined && !flags.force)
      throw createUsageError('mcp add', `mcp.json has a server ${name}; --force replaces it`)
    const movedEntry = moveSecrets(name, createEntry(call), secrets.read())
    const server = parseServer(name, movedEntry.entry)
    if (typeof server === 'string') throw createUsageError('mcp add', server)
    print(formatFields(name, describeServer(server)))
    noteWarnings(findEndpointWarnings(server.endpoint), note)
    let login: ServerLogin | undefined
    try {
      const values = { ...secrets.read(), ...movedEntry.secrets }
      const variables = { env: call.env, secrets: values, project: cwd }
      const remote = renderRemote(server, variables)
      login = remote && new ServerLogin({ logins: openLogins(call), server: remote })
      const catalogue = await probeServer(renderEndpoint(server, variables), {
        login,
        ...{ server: name, share: server.share, concurrency: server.concurrency, project: cwd },
        signal: call.getInterruptSignal(),
        clientInfo: { name: 'causeway', version },
      })
      const names = catalogue.tools.map((tool) => tool.name).join(', ')
      print(`  tools  ${escapeHiddenCharacters(names)}`)
      noteWarnings(findCatalogueWarnings(catalogue), note)
    } catch (error) {
      if (login !== undefined && LoginError.is(error, 'NEEDS_LOGIN'))
        note(`${error.message}: ${error.remedy}`)
      else if (!flags.force) throw addRemedy(error)
      else note(`${describeEndpoint(server.endpoint)} could not be started: ${(error as Error).message}`)
    }
    secrets.set(movedEntry.secrets)
    file.setServer(name, movedEntry.entry)
    print(`added: ${name}`)
    return 0
  },
})

/** Replaces a remedy that names the entry, which does not exist yet. */
function addRemedy(error: unknown): unknown {
  if (!GatewayError.is(error, 'UPSTREAM_UNAVAILABLE')) return error
  const { code, message, data } = error
  const remedy = 'correct the command or the URL, or add the server anyway with --force'
  return new GatewayError(code, message, { data, remedy, cause: error })
}

function createEntry({ args, flags: callFlags, env }: CommandCall<typeof flags>): ConvertedEntry {
  const [, command, ...rest] = args
  const { url, header, share } = callFlags
  const causeway = {
    ...(share === undefined ? {} : { share: checkShare(share) }),
    ...(command === undefined || env.PATH === undefined ? {} : { path: env.PATH }),
  }
  if (url !== undefined && command === undefined)
    return {
      type: callFlags.sse ? 'sse' : 'http',
      url,
      ...(header.length > 0 ? { headers: splitPairs(header, ':', 'header') } : {}),
      causeway,
    }
  if (url !== undefined || command === undefined)
    throw createUsageError('mcp add', 'give either --url or a command after --')
  return {
    command,
    args: rest,
    ...(callFlags.env.length > 0 ? { env: splitPairs(callFlags.env, '=', 'env') } : {}),
    causeway,
  }
}

function checkShare(text: string): Share {
  const share = shares.find((candidate) => candidate === text)
  if (share === undefined)
    throw createUsageError('mcp add', `--share must be one of ${shares.join(', ')}: ${text}`)
  return share
}

const splitPairs = (pairs: readonly string[], separator: string, flag: string): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const index = pair.indexOf(separator)
      if (index < 1) throw createUsageError('mcp add', `--${flag} needs a name, "${separator}" and a value`)
      return [pair.slice(0, index).trim(), pair.slice(index + 1).trim()]
    }),
  )
