import { setTimeout as delay } from 'node:timers/promises'
import { type CatalogueChange, escapeHiddenCharacters, type OutputLines } from '@causeway/gateway'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { noteWarnings } from './describe-server.ts'
import { defineServerCommand, findStatuses, getHostedRoute, ServersFile } from './hosted-servers.ts'

const followIntervalMs = 500

interface Changes {
  readonly changes: readonly CatalogueChange[]
}

function findClient(
  call: Pick<CommandCall, 'args' | 'config' | 'commandLine' | 'note'>,
): Promise<ServerClient> {
  new ServersFile(call).requireEntry(call.args[0] ?? '')
  return ServerClient.find(call)
}

export const logsCommand = defineServerCommand({
  name: 'mcp logs',
  about: 'print the latest lines that the processes of a hosted server wrote to stderr',
  details: `Lines of stdout that are not messages have the prefix [stdout], and failures that Causeway reports [causeway].`,
  flags: { follow: { short: 'f', about: 'print new lines until Ctrl-C' } },
  examples: ['causeway mcp logs files', 'causeway mcp logs files -f'],
  async run({ flags, ...call }) {
    const [name = ''] = call.args
    const client = await findClient(call)
    const signal = flags.follow ? call.getInterruptSignal() : undefined
    let position = 0
    do {
      const { lines, next } = await client.get<OutputLines>(getHostedRoute(name, `logs?after=${position}`))
      for (const line of lines) call.print(escapeHiddenCharacters(line))
      position = next
      if (signal !== undefined) await delay(followIntervalMs, undefined, { signal }).catch(() => {})
    } while (signal?.aborted === false)
    return 0
  },
})

export const restartCommand = defineServerCommand({
  name: 'mcp restart',
  about: 'end the processes of a hosted server and forget its failures',
  async run(call) {
    const [name = ''] = call.args
    const client = await findClient(call)
    await client.post(getHostedRoute(name, 'restart'), {})
    call.print(`restarted: ${name}`)
    return 0
  },
})

export const toolsCommand = defineServerCommand({
  name: 'mcp tools',
  about: 'list the tools of a hosted server as its app serves them',
  flags: { json: { about: 'print the tools with their schemas as JSON' } },
  async run({ flags, ...call }) {
    const [name = ''] = call.args
    const client = await findClient(call)
    const { app = name, warnings = [] } = (await findStatuses(call))?.get(name) ?? {}
    const { tools } = await client.describeApp(app.toLowerCase())
    noteWarnings(warnings, call.note)
    if (flags.json) call.printJson(tools)
    else
      for (const tool of tools)
        call.print(escapeHiddenCharacters(`${tool.name}  ${tool.about.split('\n')[0]}`))
    return 0
  },
})

export const approveCommand = defineServerCommand({
  name: 'mcp approve',
  about: 'approve a hosted server that was imported, or its changed tools and prompts',
  forms: ['<name> [<tool>…]'],
  details: `Without names, everything is approved. --diff prints what differs from the approved definitions, and approves nothing.`,
  flags: { diff: { about: 'print the differences, and approve nothing' } },
  examples: ['causeway mcp approve files --diff', 'causeway mcp approve files read_file'],
  async run({ flags, ...call }) {
    const [name = '', ...items] = call.args
    const client = await findClient(call)
    if (flags.diff) {
      const { changes } = await client.get<Changes>(getHostedRoute(name, 'changes'))
      const selectedChanges = changes.filter((change) => items.length === 0 || items.includes(change.name))
      for (const change of selectedChanges) call.print(escapeHiddenCharacters(describeChange(change)))
      if (selectedChanges.length === 0) call.print(`${name}: nothing differs`)
      noteWarnings((await findStatuses(call))?.get(name)?.warnings ?? [], call.note)
      return 0
    }
    const body = items.length === 0 ? {} : { items }
    const { changes } = await client.post<Changes>(getHostedRoute(name, 'approve'), body)
    const unapprovedNames = changes.map((change) => change.name || change.kind)
    call.print(`approved: ${[name, ...items].join(' ')}`)
    noteWarnings((await findStatuses(call))?.get(name)?.warnings ?? [], call.note)
    if (unapprovedNames.length > 0) call.note(`not approved: ${unapprovedNames.join(', ')}`)
    return 0
  },
})

function describeChange({ kind, name, approved, current }: CatalogueChange): string {
  const title = `${approved === undefined ? 'new' : 'changed'} ${[kind, name].filter(Boolean).join(' ')}`
  const members = [...new Set([...Object.keys(approved ?? {}), ...Object.keys(current)])]
  const lines = members.flatMap((member) => {
    const [oldValue, newValue] = [JSON.stringify(approved?.[member]), JSON.stringify(current[member])]
    if (oldValue === newValue) return []
    return [
      ...(oldValue === undefined ? [] : [`- ${member}: ${oldValue}`]),
      ...(newValue === undefined ? [] : [`+ ${member}: ${newValue}`]),
    ]
  })
  return [title, ...lines].join('\n')
}
