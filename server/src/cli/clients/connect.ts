import { defineCommand } from '../command.ts'
import { clients } from './clients.ts'

const scope = { value: '<scope>', about: 'project: for this folder; user: for every folder' } as const
const autostart = { about: 'the bridge starts the server if none is running' }
const outputFlags = {
  'dry-run': { about: 'print what would be written, and write nothing' },
  print: { about: 'print the lines to paste, and write nothing' },
}
const settings = ['--port', '--token-file', '--data-dir']

export const connectCommand = defineCommand({
  name: 'connect',
  about: 'connect a client in all folders: add Causeway to its configuration, or undo that',
  forms: [Object.keys(clients).join('|')],
  details: `Adds or updates the server \`causeway\` and leaves everything else in the file unchanged, comments included. The client
starts the bridge, which connects it to this server. A backup of the old file is written next to it. --undo restores the
file of the last connect byte for byte; if another program has changed the file since, it reverts only this entry.`,
  flags: {
    scope,
    view: {
      value: '<view>',
      about:
        'list of tools: full, core or a profile of mcp.json; by default the bridge selects it for the client',
    },
    autostart,
    undo: { about: 'undo the last connect of this client' },
    ...outputFlags,
  },
  settings,
  exits: { 1: 'the file is invalid or would lose comments, and is unchanged; or there is nothing to undo' },
  examples: [
    'causeway connect claude-code',
    'causeway connect codex --autostart --dry-run',
    'causeway connect vscode --scope project --view core',
    'causeway connect claude-code --undo',
  ],
  async run(call) {
    const { undoClient, writeClient } = await import('./write-client.ts')
    const [name = ''] = call.args
    if (call.flags.undo) return undoClient(name, call)
    return writeClient({ name, command: 'connect', defaultScope: 'user' }, call)
  },
})

export const initCommand = defineCommand({
  name: 'init',
  about: 'connect Claude Code, VS Code or Cursor in this folder; `causeway connect` does it for all clients',
  forms: ['claude|vscode|cursor'],
  details: `Adds or updates the server \`causeway\` and leaves everything else in the file unchanged, comments included. The client
starts the bridge that belongs to this server. A backup of the old file is written next to it. For other clients, and for all
folders, see causeway connect.`,
  flags: {
    scope,
    autostart,
    ...outputFlags,
  },
  settings,
  exits: { 1: 'the file is invalid or would lose comments; it is unchanged' },
  examples: [
    'causeway init claude',
    'causeway init vscode --dry-run',
    'causeway init cursor --scope user --autostart',
  ],
  async run(call) {
    const { writeClient } = await import('./write-client.ts')
    const [name = ''] = call.args
    const client = name === 'claude' ? 'claude-code' : name
    return writeClient({ name: client, command: 'init', defaultScope: 'project' }, call)
  },
})
