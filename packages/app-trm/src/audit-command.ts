/** An entry for every command that is run: what, where, as which process, and how it went. */
import type { Critic } from './critic.ts'
import type { SignalSpec } from './domain/signal.ts'
import type { CommandEnd } from './evaluate.ts'
import type { CommandRow } from './rows.ts'

/** What a command is run for. */
export type Occasion = Pick<CommandRow, 'session_id' | 'occasion' | 'cwd'>

/** Notes that a command began, in the data and in the log; what it gives notes how it ended. */
export async function auditCommand(
  { store, log, now }: Pick<Critic, 'store' | 'log' | 'now'>,
  occasion: Occasion,
  { name: stage, command }: SignalSpec,
  pid: number,
): Promise<CommandEnd> {
  const row = { ...occasion, stage, command, pid, started_ms: now() }
  const id = await store.commandStarted(row)
  log.info(row, 'runs a command')
  return async ({ exitCode, timedOut, ms, stdout, stderr }) => {
    const end = { exit_code: exitCode, ms, bytes: stdout.bytes + stderr.bytes }
    await store.commandEnded(id, end)
    log.info({ ...occasion, stage, pid, timedOut, ...end }, 'a command ended')
  }
}
