/** Judging a candidate again with the files that judge it as they were at the start of the session. */
import type { Critic } from './critic.ts'
import { assess, type Evidence } from './domain/assess.ts'
import { isSameContent } from './domain/candidate/same-content.ts'
import type { FileContent, FilesBefore } from './domain/candidate/types.ts'
import { type Guard, guardOf } from './domain/guard.ts'
import { tampering } from './domain/tamper.ts'
import type { Proposal } from './propose.ts'
import type { SessionRow } from './rows.ts'

/** The candidate in its work copy, and how its commands are run there. */
export interface GuardRequest {
  readonly cwd: string
  readonly proposal: Proposal | undefined
  run(): Promise<readonly Evidence[]>
}

/** The second judgement; null where the session has changed nothing that judges, or does not want it. */
export async function guardStep(
  critic: Critic,
  session: SessionRow,
  { cwd, proposal, run }: GuardRequest,
): Promise<Guard | null> {
  const { config, standing, baseline } = session
  if (config.protect !== 'compare' || !config.isolate) return null
  const first = await judgesAtStart(critic, session, proposal)
  const before = await critic.files(cwd).read([...first.keys()])
  const changes = new Map<string, FileContent | null>()
  for (const [path, content] of first)
    if (!isSameContent(content, before.get(path))) changes.set(path, content ?? null)
  if (changes.size === 0) return null
  await critic.files(cwd).write(changes, { before })
  const { result } = assess({
    config,
    kind: 'rerun',
    standing,
    baseline,
    evidence: await run(),
    filesChanged: [],
    warnings: [],
    ms: 0,
  })
  return guardOf([...changes.keys()].sort(), result)
}

/** What judged at the start and was changed since, by any step or by the candidate that is not in the project yet. */
async function judgesAtStart(
  { store, snapshots }: Critic,
  { id, config }: SessionRow,
  proposal: Proposal | undefined,
): Promise<FilesBefore> {
  // What a benchmark runs is often what is to become faster.
  const commands = config.signals.flatMap(({ kind, command }) => (kind === 'perf' ? [] : [command]))
  const judges = (paths: Iterable<string>) => tampering([...paths], commands).map(({ path }) => path)
  const found = new Map<string, FileContent | undefined>()
  for (const path of judges(proposal?.applied.changes.keys() ?? []))
    found.set(path, proposal?.before.get(path))
  const landings = await store.landings(id)
  if (landings.length === 0) return found
  const start = await snapshots.combine(landings.map(({ before }) => before))
  try {
    const paths = judges((await snapshots.entries(start)).map(({ path }) => path))
    for (const [path, content] of await snapshots.read(start, paths)) found.set(path, content)
    return found
  } finally {
    await snapshots.drop(start)
  }
}
