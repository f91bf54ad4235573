import { forgetPins } from '@causeway/gateway'
import { listSecretNames, SecretsFile } from '@causeway/gateway/config'
import { defineServerCommand, ServersFile } from './hosted-servers.ts'

export const removeCommand = defineServerCommand({
  name: 'mcp remove',
  about: 'remove a hosted server, its approved definitions and the secrets that only it uses',
  flags: { 'dry-run': { about: 'print what would be removed, and remove nothing' } },
  examples: ['causeway mcp remove files'],
  run({ args: [name = ''], flags, print, note, ...call }) {
    const file = new ServersFile(call)
    file.requireEntry(name)
    const listSecrets = (server: string) => listSecretNames(JSON.stringify(file.readEntry(server)))
    const otherNames = file.names.filter((other) => other !== name)
    const sharedSecrets = new Set(otherNames.flatMap(listSecrets))
    const ownSecrets = listSecrets(name).filter((secret) => !sharedSecrets.has(secret))
    if (flags['dry-run']) {
      print(`would remove: ${[name, ...ownSecrets].join(', ')}`)
      note('nothing removed')
      return 0
    }
    file.removeServer(name)
    const { dataDir } = call.config()
    new SecretsFile(dataDir).remove(ownSecrets)
    forgetPins(dataDir, name)
    print(`removed: ${name}`)
    if (ownSecrets.length > 0) note(`removed the secrets ${ownSecrets.join(', ')}`)
    return 0
  },
})

const createEnableCommand = (verb: 'enable' | 'disable', about: string) =>
  defineServerCommand({
    name: `mcp ${verb}`,
    about,
    exits: { 1: 'there is no such server, or its entry is invalid' },
    run({ args: [name = ''], print, ...call }) {
      const file = new ServersFile(call)
      const isEnabled = verb === 'enable'
      if (file.require(name).enabled !== isEnabled) file.setOption(name, 'enabled', isEnabled)
      print(`${verb}d: ${name}`)
      return 0
    },
  })

export const enableCommand = createEnableCommand('enable', 'serve the tools of a hosted server again')

export const disableCommand = createEnableCommand(
  'disable',
  'stop a hosted server and remove its tools, but keep its entry',
)
