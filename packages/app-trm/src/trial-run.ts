/** Running commands of a session in a copy of its project, beside its steps: nothing of it counts. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { auditCommand } from './audit-command.ts'
import type { Critic } from './critic.ts'
import type { Evidence } from './domain/assess.ts'
import { evaluate } from './evaluate.ts'
import type { SessionRow } from './rows.ts'
import { keepMark } from './trial-mark.ts'
import { workCopy } from './work-copy.ts'

/** What is run. */
export interface TrialRun {
  /** how the record of commands calls it */
  readonly occasion: string
  readonly signal: AbortSignal
  /** Changes the copy before the commands run. */
  prepare?(cwd: string): Promise<void>
  /** Ids of the only tests to run, and what tests were read from before. */
  readonly only?: { readonly ids: readonly string[]; readonly source: string }
  onStage?(index: number, name: string): void
}

/** What the commands left behind; rejects with the signal's reason when it aborts. */
export async function trialRun(
  critic: Critic,
  { id, config }: Pick<SessionRow, 'id' | 'config'>,
  { occasion, signal, prepare, only, onStage }: TrialRun,
): Promise<readonly Evidence[]> {
  const { dir, engine, newId, slots, workDir } = critic
  const marker = newId()
  const mark = join(workDir, `${marker}.mark`)
  let free: (() => void) | undefined
  try {
    free = await slots.take(signal)
    const copy = await workCopy(critic, config, { name: marker, signal })
    try {
      await prepare?.(copy.cwd)
      return await evaluate({
        config,
        engine,
        cwd: copy.cwd,
        hidden: dir,
        changed: [],
        failFast: config.failFast,
        marker,
        signal,
        only,
        onStage: (index, name) => onStage?.(index, name),
        async onProcess(spec, process) {
          await keepMark(mark, process)
          return auditCommand(critic, { session_id: id, occasion, cwd: copy.cwd }, spec, process.pid)
        },
        onStageEnd: async () => {},
      })
    } finally {
      await copy.remove()
    }
  } finally {
    free?.()
    await rm(mark, { force: true })
  }
}
