import type { FlagSyntax } from '../config/command-line.ts'
import { listSettings } from '../config/config.ts'
import { callCommand } from './call/call.ts'
import { connectCommand, initCommand } from './clients/connect.ts'
import { type Command, defineCommand, listWithSubcommands } from './command.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { configCommand } from './commands/config.ts'
import { dataCommand } from './commands/data.ts'
import { logsCommand } from './commands/logs.ts'
import { rootsCommand } from './commands/roots.ts'
import { statusCommand } from './commands/status.ts'
import { stopCommand } from './commands/stop.ts'
import { toolsCommand } from './commands/tools.ts'
import { createCompletionCommand } from './completion/completion.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { mcpCommand } from './mcp/mcp.ts'
import { installServiceCommand } from './service/install-service.ts'

const serveCommand = defineCommand({
  name: 'serve',
  about: 'run the server until it is stopped; the word serve may be omitted',
  details: `A setting is a flag, an environment variable, a line of --env-file or a key of causeway.config.json in the working
directory; the first of these takes precedence. Ctrl-C or SIGTERM stops the server after the running calls have finished, a
second one immediately. SIGHUP refreshes the tool lists.`,
  settings: listSettings().map(({ flag }) => flag),
  exits: {
    1: 'the server could not start: a data file or the port',
  },
  examples: ['causeway --recording-roots ~/simulations', 'causeway --port 3200 --log-level warn'],
  async run({ invocation }) {
    const { serve } = await import('../serve.ts')
    await serve(invocation())
    return 0
  },
})

export const commands: readonly Command[] = [
  serveCommand,
  callCommand,
  toolsCommand,
  initCommand,
  connectCommand,
  mcpCommand,
  statusCommand,
  stopCommand,
  logsCommand,
  doctorCommand,
  configCommand,
  rootsCommand,
  backupCommand,
  restoreCommand,
  dataCommand,
  installServiceCommand,
  createCompletionCommand(() => commands),
]

/** The parser needs them before it can determine the command. */
export const commandFlags: Readonly<Record<string, FlagSyntax>> = Object.assign(
  {},
  ...listWithSubcommands(commands).map(({ flags }) => flags),
)
