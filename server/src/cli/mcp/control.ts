import { setTimeout as delay } from 'node:timers/promises'
import { escapeHiddenCharacters } from '@causeway/gateway'
import { isObject } from '@causeway/protocol'
import { type CommandCall, defineCommand } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { noteWarnings } from './describe-server.ts'
import { openHostedServers } from './hosted-servers.ts'
import { findStatuses } from './running.ts'

const followMs = 500

/** Throws `SERVER_NOT_FOUND` and `SERVER_NOT_RUNNING`. */
async function openRoutes(call: Pick<CommandCall, 'args' | 'config' | 'given' | 'note'>) {
  const [name = ''] = call.args
  openHostedServers(call).requireEntry(name)
  const client = await ServerClient.find(call)
  const route = (path: string): string => `/api/hosted/${encodeURIComponent(name)}/${path}`
  return {
    name,
    get: async (path: string) => (await client.get(route(path))) as Readonly<Record<string, unknown>>,
    post: async (path: string, body: object) =>
      (await client.post(route(path), body)) as Readonly<Record<string, unknown>>,
    client,
  }
}

export const logsCommand = defineCommand({
  name: 'mcp logs',
  about: 'print the latest lines that the processes of a hosted server wrote to stderr',
  forms: ['<name>'],
  details: `Lines of stdout that are not messages have the prefix [stdout], and failures that Causeway reports [causeway].`,
  flags: { follow: { short: 'f', about: 'print new lines until Ctrl-C' } },
  exits: { 1: 'there is no such server' },
  examples: ['causeway mcp logs files', 'causeway mcp logs files -f'],
  async run({ flags, ...call }) {
    const { get } = await openRoutes(call)
    const signal = flags.follow ? call.untilInterrupted() : undefined
    let after = 0
    do {
      const { lines, next } = (await get(`logs?after=${after}`)) as { lines: readonly string[]; next: number }
      for (const line of lines) call.print(escapeHiddenCharacters(line))
      after = next
      if (signal !== undefined) await delay(followMs, undefined, { signal }).catch(() => {})
    } while (signal?.aborted === false)
    return 0
  },
})

export const restartCommand = defineCommand({
  name: 'mcp restart',
  about: 'end the processes of a hosted server and forget its failures',
  forms: ['<name>'],
  exits: { 1: 'there is no such server' },
  async run(call) {
    const { name, post } = await openRoutes(call)
    await post('restart', {})
    call.print(`restarted: ${name}`)
    return 0
  },
})

export const toolsCommand = defineCommand({
  name: 'mcp tools',
  about: 'list the tools of a hosted server as its app serves them',
  forms: ['<name>'],
  flags: { json: { about: 'print the tools with their schemas as JSON' } },
  exits: { 1: 'there is no such server' },
  async run({ flags, ...call }) {
    const { name, client } = await openRoutes(call)
    const { app = name, warnings = [] } = (await findStatuses(call))?.get(name) ?? {}
    const { tools } = await client.describeApp(app.toLowerCase())
    noteWarnings(warnings, call.note)
    if (flags.json) call.print(JSON.stringify(tools, null, 2))
    else
      for (const tool of tools)
        call.print(escapeHiddenCharacters(`${tool.name}  ${tool.about.split('\n')[0]}`))
    return 0
  },
})

interface Change {
  readonly kind: string
  readonly name: string
  readonly approved?: object
  readonly current: object
}

export const approveCommand = defineCommand({
  name: 'mcp approve',
  about: 'approve a hosted server that was imported, or its changed tools and prompts',
  forms: ['<name> [<tool>…]'],
  details: `Without names, everything is approved. --diff prints what differs from the approved definitions, and approves nothing.`,
  flags: { diff: { about: 'print the differences, and approve nothing' } },
  exits: { 1: 'there is no such server' },
  examples: ['causeway mcp approve files --diff', 'causeway mcp approve files read_file'],
  async run({ flags, ...call }) {
    const { name, get, post } = await openRoutes(call)
    const items = call.args.slice(1)
    if (flags.diff) {
      const { changes } = await get('changes')
      const shown = (changes as readonly Change[]).filter(
        (change) => items.length === 0 || items.includes(change.name),
      )
      for (const change of shown) call.print(escapeHiddenCharacters(describeChange(change)))
      if (shown.length === 0) call.print(`${name}: nothing differs`)
      noteWarnings((await findStatuses(call))?.get(name)?.warnings ?? [], call.note)
      return 0
    }
    const { changes } = await post('approve', items.length === 0 ? {} : { items })
    const left = (changes as readonly Change[]).map((change) => change.name || change.kind)
    call.print(`approved: ${[name, ...items].join(' ')}`)
    noteWarnings((await findStatuses(call))?.get(name)?.warnings ?? [], call.note)
    if (left.length > 0) call.note(`not approved: ${left.join(', ')}`)
    return 0
  },
})

/** Marks approved lines with `-` and current ones with `+`. */
function describeChange({ kind, name, approved, current }: Change): string {
  const title = `${approved === undefined ? 'new' : 'changed'} ${[kind, name].filter(Boolean).join(' ')}`
  const before = isObject(approved) ? approved : {}
  const after = isObject(current) ? current : {}
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const lines = members.flatMap((member) => {
    const [old, next] = [JSON.stringify(before[member]), JSON.stringify(after[member])]
    if (old === next) return []
    return [
      ...(old === undefined ? [] : [`- ${member}: ${old}`]),
      ...(next === undefined ? [] : [`+ ${member}: ${next}`]),
    ]
  })
  return [title, ...lines].join('\n')
}
