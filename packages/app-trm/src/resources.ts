/** Sessions as resources, and the whole output of commands, which answers only quote. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Registrar, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { type Critic, lastResult, sessionOf } from './critic.ts'
import { shownConfig } from './domain/session-config.ts'
import type { TrmContext, TrmSession } from './tools/shape.ts'

const unpack = promisify(gunzip)

/** Declares the resources; open sessions are listed. */
export function trmResources(app: Registrar<Critic, TrmSession>): void {
  app.resource('trm://sessions/{sid}', {
    name: 'refinement',
    about: 'How a session was started, where it stands, every step of it, and the last commands that it ran.',
    list: async ({ store }) =>
      (await store.store.sessions()).map(({ id, config }) => ({
        uri: `trm://sessions/${id}`,
        name: `${config.project} ${id}`,
      })),
    complete: { sid: sessionIds },
    async read(variables, { store }) {
      const { id, config, standing, status } = await sessionOf(store, variables.sid)
      const steps = await store.store.steps(id)
      return {
        json: {
          sessionId: id,
          status,
          config: shownConfig(config),
          standing,
          last: lastResult(steps) ?? null,
          steps: steps.map(({ number, kind, status: ended, reason, undone_ms, result, started_ms }) => ({
            step: number,
            kind,
            status: ended,
            undone: undone_ms !== null && ended === 'done',
            reason,
            score: result?.score ?? null,
            filesChanged: result?.filesChanged ?? [],
            commands: result?.stages ?? [],
            started_ms,
          })),
          // Where it ran is a folder of the server's own, which is nobody else's business.
          commands: (await store.store.commands(id)).map(({ session_id: _, cwd: __, ...row }) => row),
        },
      }
    },
  })

  app.resource('trm://sessions/{sid}/steps/{step}/output/{stage}', {
    name: 'command output',
    about:
      'What a command wrote in a step; the middle of very long output is left out, failures in it are kept.',
    mimeType: 'text/plain',
    complete: { sid: sessionIds, step: stepNumbers, stage: stageNames },
    async read({ sid, step, stage = '' }, { store }) {
      const row = await stepOf(store, sid, step)
      const output = row === undefined ? undefined : await store.store.output(row, stage)
      if (output === undefined)
        throw new CausewayError('RESOURCE_NOT_FOUND', `no output of ${stage} in step ${step}`, {
          data: { sid, step, stage },
        })
      const [stdout, stderr] = await Promise.all([unpack(output.stdout), unpack(output.stderr)])
      return { text: stderr.length === 0 ? `${stdout}` : `${stdout}\n--- stderr ---\n${stderr}` }
    },
  })
}

/** The newest row of a step number: one that was undone may have the same. */
async function stepOf(
  critic: Critic,
  sid: string | undefined,
  step: string | undefined,
): Promise<number | undefined> {
  const { id } = await sessionOf(critic, sid)
  return (await critic.store.steps(id)).findLast(({ number }) => String(number) === step)?.id
}

const sessionIds = async (_chosen: Variables, { store }: TrmContext): Promise<readonly string[]> =>
  (await store.store.sessions()).map(({ id }) => id)

const stepNumbers = async ({ sid }: Variables, { store }: TrmContext): Promise<readonly string[]> =>
  sid === undefined ? [] : [...new Set((await store.store.steps(sid)).map(({ number }) => String(number)))]

async function stageNames({ sid, step }: Variables, { store }: TrmContext): Promise<readonly string[]> {
  const row = await stepOf(store, sid, step)
  return row === undefined ? [] : store.store.outputStages(row)
}
