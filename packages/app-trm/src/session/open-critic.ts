import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Env, makeRoots, numberSetting } from '@causeway/app-kit'
import { killLeftoverProcesses } from '../runner/process-group.ts'
import { Snapshots } from '../snapshot/snapshots.ts'
import type { StepRow } from '../store/rows.ts'
import { TrmStore } from '../store/store.ts'
import { removeWorkCopies } from '../workspace/work-copy.ts'
import { removeUnusedWorkspaces } from '../workspace/workspace.ts'
import { Critic } from './critic.ts'
import { rollBack } from './roll-back.ts'

/** Opens the database and rolls back evaluations that an earlier server did not finish. */
export async function openCritic(env: Env): Promise<Critic> {
  const { dir, settings, log } = env
  const { trmRoots, trmCommands, trmTrusted, trmSandbox } = settings
  const roots = Array.isArray(trmRoots) ? trmRoots.filter((folder) => typeof folder === 'string') : []
  if (settings.trmReviewUrl === true)
    log.warn({}, 'CAUSEWAY_TRM_REVIEW_URL was removed and has no effect: send the diff of a pull request')
  const store = new TrmStore(dir, env)
  const snapshots = new Snapshots({ dir: join(dir, 'trm'), db: store.db, now: () => store.now() })
  await removeWorkCopies(dir)
  for (const step of await store.listRunningSteps()) await interrupt({ env, store, snapshots }, step)
  const critic = new Critic({
    env,
    store,
    snapshots,
    policy: {
      roots: makeRoots(() => roots, 'CAUSEWAY_TRM_ROOTS'),
      commands: typeof trmCommands === 'string' ? trmCommands : 'any',
      trusted: new Set(Array.isArray(trmTrusted) ? trmTrusted : []),
      sandbox: trmSandbox === 'auto' || trmSandbox === 'bwrap' ? trmSandbox : 'none',
    },
    maxParallel: numberSetting(settings, 'trmParallel'),
    dir: await realpath(dir),
  })
  await removeUnusedWorkspaces(critic)
  return critic
}

interface RecoveryParts {
  readonly env: Env
  readonly store: TrmStore
  readonly snapshots: Snapshots
}

async function interrupt({ env: { log }, store, snapshots }: RecoveryParts, step: StepRow): Promise<void> {
  const fields = { session: step.session_id, step: step.number }
  await killLeftoverProcesses(step.mark, step.marker)
  try {
    await rollBack({ store, snapshots, log }, step, 'interrupted')
    log.warn(fields, 'an evaluation was interrupted by a restart')
  } catch (error) {
    // A missing or read-only project must not prevent the start. A reset can still use the landing.
    log.error({ ...fields, err: error }, 'cannot roll back the changes of an interrupted evaluation')
    await store.abandonStep(step.id, 'interrupted', false)
  }
}
