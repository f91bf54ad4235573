import { defineCommand } from '../command.ts'
import { addCommand } from './add.ts'
import { disableCommand, enableCommand, removeCommand } from './change.ts'
import { approveCommand, logsCommand, restartCommand, toolsCommand } from './control.ts'
import { importCommand } from './import/import.ts'
import { listCommand, listServers, showCommand } from './list.ts'
import { loginCommand, logoutCommand } from './login.ts'

const subcommands = [
  addCommand,
  importCommand,
  listCommand,
  showCommand,
  toolsCommand,
  logsCommand,
  approveCommand,
  loginCommand,
  logoutCommand,
  restartCommand,
  enableCommand,
  disableCommand,
  removeCommand,
]

export const mcpCommand = defineCommand({
  name: 'mcp',
  about: 'host other MCP servers: add, import, approve and more: see causeway mcp --help',
  forms: [`[${subcommands.map(({ name }) => name.slice('mcp '.length)).join('|')}]`],
  details: `Hosted servers are declared in mcp.json in the data folder. A running Causeway applies changes within seconds.`,
  subcommands,
  examples: ['causeway mcp', 'causeway mcp import --dry-run'],
  run: (call) => listServers({ ...call, flags: { json: false } }),
})
