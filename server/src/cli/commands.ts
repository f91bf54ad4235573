/** Every command of `causeway`, one line each, in the order of its help. */
import type { OwnFlag } from '../command-line.ts'
import { backupCommand } from './backup.ts'
import type { Command } from './command.ts'
import { dataCommand } from './data.ts'
import { doctorCommand } from './doctor.ts'
import { initCommand } from './init.ts'
import { installServiceCommand } from './install-service.ts'
import { logsCommand } from './logs.ts'
import { restoreCommand } from './restore.ts'
import { rootsCommand } from './roots.ts'
import { serveCommand } from './serve.ts'
import { statusCommand } from './status.ts'
import { stopCommand } from './stop.ts'
import { toolsCommand } from './tools.ts'

export const commands: readonly Command[] = [
  serveCommand,
  initCommand,
  statusCommand,
  stopCommand,
  logsCommand,
  doctorCommand,
  rootsCommand,
  backupCommand,
  restoreCommand,
  dataCommand,
  installServiceCommand,
  toolsCommand,
]

/** The flags of all commands together: what a flag takes must be known before it is known whose it is. */
export const everyFlag: Readonly<Record<string, OwnFlag>> = Object.assign(
  {},
  ...commands.map(({ flags }) => flags),
)
