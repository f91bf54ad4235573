import { forgetPins } from '@causeway/gateway'
import { listSecretNames } from '@causeway/gateway/config'
import { defineServerCommand, HostedServers } from './hosted-servers.ts'

export const removeCommand = defineServerCommand({
  name: 'mcp remove',
  about: 'remove a hosted server, its approved definitions and the secrets that only it uses',
  flags: { 'dry-run': { about: 'print what would be removed, and remove nothing' } },
  examples: ['causeway mcp remove files'],
  run({ args: [name = ''], flags, print, note, ...call }) {
    const hosted = new HostedServers(call)
    const { file, secrets } = hosted
    hosted.requireEntry(name)
    const listSecrets = (server: string) => listSecretNames(JSON.stringify(file.readEntry(server)))
    const { servers, problems } = file.read()
    const others = [...servers, ...problems].filter((server) => server.name !== name)
    const shared = new Set(others.flatMap((server) => listSecrets(server.name)))
    const own = listSecrets(name).filter((secret) => !shared.has(secret))
    if (flags['dry-run']) {
      print(`would remove: ${[name, ...own].join(', ')}`)
      note('nothing removed')
      return 0
    }
    file.removeServer(name)
    secrets.remove(own)
    forgetPins(call.config().dataDir, name)
    print(`removed: ${name}`)
    if (own.length > 0) note(`removed the secrets ${own.join(', ')}`)
    return 0
  },
})

const setEnabled = (verb: 'enable' | 'disable', about: string) =>
  defineServerCommand({
    name: `mcp ${verb}`,
    about,
    exits: { 1: 'there is no such server, or its entry is invalid' },
    run({ args: [name = ''], print, ...call }) {
      const hosted = new HostedServers(call)
      const server = hosted.require(name)
      const enabled = verb === 'enable'
      if (server.enabled !== enabled) hosted.file.setOption(name, 'enabled', enabled)
      print(`${verb}d: ${name}`)
      return 0
    },
  })

export const enableCommand = setEnabled('enable', 'serve the tools of a hosted server again')

export const disableCommand = setEnabled(
  'disable',
  'stop a hosted server and remove its tools, but keep its entry',
)
