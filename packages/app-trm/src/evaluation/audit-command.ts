import type { SignalSpec } from '../domain/evaluation/signal.ts'
import type { Critic } from '../session/critic.ts'
import type { CommandRow } from '../store/rows.ts'
import type { CommandEnd } from './run-stages.ts'

/** Stores and logs the start of a command. Returns the function that records its end. */
export async function auditCommand(
  { store, log, now }: Pick<Critic, 'store' | 'log' | 'now'>,
  occasion: Pick<CommandRow, 'session_id' | 'occasion' | 'cwd'>,
  { name: stage, command }: SignalSpec,
  pid: number,
): Promise<CommandEnd> {
  const row = { ...occasion, stage, command, pid, started_ms: now() }
  const id = await store.commandStarted(row)
  log.info(row, 'command started')
  return async ({ exitCode, timedOut, ms, stdout, stderr }) => {
    const end = { exit_code: exitCode, ms, bytes: stdout.bytes + stderr.bytes }
    await store.commandEnded(id, end)
    log.info({ ...occasion, stage, pid, timedOut, ...end }, 'command ended')
  }
}
