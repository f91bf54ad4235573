import { describeEndpoint, findEndpointWarnings, SecretsFile } from '@causeway/gateway/config'
import { createUsageError, defineCommand } from '../../command.ts'
import { noteWarnings } from '../describe-server.ts'
import { ServersFile } from '../hosted-servers.ts'

export const importCommand = defineCommand({
  name: 'mcp import',
  about: 'copy the MCP servers of other clients into mcp.json',
  forms: ['[<client-or-file>]'],
  details: `Reads the files of claude-code, claude-desktop, vscode, cursor, codex, gemini, windsurf and zed, or a JSON or TOML file; by
default those of every client, for the user and for this folder. It never writes them. Secrets move to secrets.json, which only you can
read, and \`mcp-remote URL\` becomes the URL. Causeway itself, and names that mcp.json already has, are skipped. An imported server does
not start before causeway mcp approve.`,
  flags: {
    only: { value: '<names>', about: 'names of the servers, separated by commas' },
    'dry-run': { about: 'print what would be imported, and write nothing' },
  },
  settings: ['--data-dir', '--port'],
  exits: { 1: 'nothing was found, or a file is invalid' },
  examples: ['causeway mcp import --dry-run', 'causeway mcp import claude-code --only github,files'],
  async run({ args: [source], flags, config, cwd, env, machine, print, note }) {
    const [{ findServers }, { planImport }] = await Promise.all([
      import('./sources.ts'),
      import('./plan-import.ts'),
    ])
    const onlyNames = flags.only?.split(',').map((name) => name.trim())
    const foundServers = findServers(source, {
      cwd,
      machine: { ...machine, ...(env.HOME && { home: env.HOME }) },
    })
    const missingNames =
      onlyNames?.filter((name) => !foundServers.some((server) => server.name === name)) ?? []
    if (missingNames.length > 0)
      throw createUsageError('mcp import', `no such server: ${missingNames.join(', ')}`)
    const servers = new ServersFile({ config })
    const secretsFile = new SecretsFile(config().dataDir)
    const { importedServers, skippedServers } = planImport(foundServers, {
      existingNames: new Set(servers.names),
      secrets: secretsFile.read(),
      port: config().port,
      path: env.PATH,
      onlyNames: onlyNames && new Set(onlyNames),
    })
    for (const { name, file, reason } of skippedServers) note(`skipped ${name} of ${file}: ${reason}`)
    for (const { name, endpoint, file, entry, secrets } of importedServers) {
      print(`${name}  ${describeEndpoint(endpoint)}`)
      note(`${name}: from ${file}${describeSecrets(Object.keys(secrets))}`)
      noteWarnings(findEndpointWarnings(endpoint), note)
      if (flags['dry-run']) continue
      if (Object.keys(secrets).length > 0) secretsFile.set(secrets)
      servers.setServer(name, entry)
    }
    if (flags['dry-run']) note('nothing written')
    else if (importedServers.length > 0) note('none of them starts before causeway mcp approve <name>')
    if (importedServers.length > 0 || skippedServers.length > 0) return 0
    note('no servers found')
    return 1
  },
})

const describeSecrets = (names: readonly string[]): string =>
  names.length === 0 ? '' : `; secrets moved to secrets.json: ${names.join(', ')}`
