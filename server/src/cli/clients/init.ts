import { defineCommand } from '../command.ts'

export const initCommand = defineCommand({
  name: 'init',
  about: 'connect Claude Code, VS Code or Cursor in this folder; `causeway connect` does it for all clients',
  forms: ['claude|vscode|cursor'],
  details: `Adds or updates the server \`causeway\` and leaves everything else in the file unchanged, comments included. The client
starts the bridge that belongs to this server. A backup of the old file is written next to it. For other clients, and for all
folders, see causeway connect.`,
  flags: {
    scope: { value: '<scope>', about: 'project: for this folder; user: for every folder' },
    autostart: { about: 'the bridge starts the server if none is running' },
    'dry-run': { about: 'print what would be written, and write nothing' },
    print: { about: 'print the lines to paste, and write nothing' },
  },
  settings: ['--port', '--token-file', '--data-dir'],
  exits: { 1: 'the file is invalid or would lose comments; it is unchanged' },
  examples: [
    'causeway init claude',
    'causeway init vscode --dry-run',
    'causeway init cursor --scope user --autostart',
  ],
  async run(call) {
    const { writeClient } = await import('./write-client.ts')
    const { args, flags } = call
    const [name = ''] = args
    const options = {
      name: name === 'claude' ? 'claude-code' : name,
      command: 'init',
      scope: flags.scope ?? 'project',
      autostart: flags.autostart,
      isDryRun: flags['dry-run'],
      isPrint: flags.print,
    }
    return writeClient(options, call)
  },
})
