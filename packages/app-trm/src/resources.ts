import type { Registrar, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { formatConfig } from './domain/session-config.ts'
import type { Critic } from './session/critic.ts'
import { findLastResult, type StepRow } from './store/rows.ts'
import type { ClientState, TrmContext } from './tools/tool-context.ts'

export function declareResources(app: Registrar<Critic, ClientState>): void {
  app.resource('trm://sessions/{sid}', {
    name: 'refinement',
    about: 'The configuration, the scores, every step and the last commands of a session.',
    list: async ({ store }) =>
      (await store.store.listSessions()).map(({ id, config }) => ({
        uri: `trm://sessions/${id}`,
        name: `${config.project} ${id}`,
      })),
    complete: { sid: listSessionIds },
    read: async ({ sid }, { store }) => ({ json: await describeSession(store, sid) }),
  })

  app.resource('trm://sessions/{sid}/steps/{step}/output/{stage}', {
    name: 'command output',
    about:
      'The output of a command in a step. Of very long output, the middle is omitted except for failures.',
    mimeType: 'text/plain',
    complete: { sid: listSessionIds, step: listStepNumbers, stage: listStages },
    async read({ sid, step, stage = '' }, { store }) {
      const id = await findStepId(store, sid, step)
      const [output] = id === undefined ? [] : await store.store.readOutputs(id, stage)
      if (output === undefined)
        throw new CausewayError('RESOURCE_NOT_FOUND', `no output of ${stage} in step ${step}`, {
          data: { sid, step, stage },
        })
      const { stdout, stderr } = output
      return { text: stderr === '' ? stdout : `${stdout}\n--- stderr ---\n${stderr}` }
    },
  })
}

async function describeSession(critic: Critic, sid: string | undefined) {
  const { id, config, standing, status } = await critic.findSession(sid)
  const steps = await critic.store.listSteps(id)
  const commands = await critic.store.listCommands(id)
  return {
    sessionId: id,
    status,
    config: formatConfig(config),
    standing,
    last: findLastResult(steps) ?? null,
    steps: steps.map(describeStep),
    // Omits the working directory, because it is a folder of the server.
    commands: commands.map(({ session_id: _, cwd: __, ...row }) => row),
  }
}

const describeStep = ({ number, kind, status, reason, undone_ms, result, started_ms }: StepRow) => ({
  step: number,
  kind,
  status,
  undone: undone_ms !== null && status === 'done',
  reason,
  score: result?.score ?? null,
  filesChanged: result?.filesChanged ?? [],
  commands: result?.stages ?? [],
  started_ms,
})

/** Returns the id of the newest row, because an undone step may have the same number. */
async function findStepId(
  critic: Critic,
  sid: string | undefined,
  step: string | undefined,
): Promise<number | undefined> {
  const { id } = await critic.findSession(sid)
  return (await critic.store.listSteps(id)).findLast(({ number }) => String(number) === step)?.id
}

const listSessionIds = async (_chosen: Variables, { store }: TrmContext): Promise<readonly string[]> =>
  (await store.store.listSessions()).map(({ id }) => id)

const listStepNumbers = async ({ sid }: Variables, { store }: TrmContext): Promise<readonly string[]> =>
  sid === undefined
    ? []
    : [...new Set((await store.store.listSteps(sid)).map(({ number }) => String(number)))]

async function listStages({ sid, step }: Variables, { store }: TrmContext): Promise<readonly string[]> {
  const id = await findStepId(store, sid, step)
  return id === undefined ? [] : (await store.store.readOutputs(id)).map(({ stage }) => stage)
}
