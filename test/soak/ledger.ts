/** Work that a server has accepted, written down as it does, and looked for at the end. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { WholeServer } from './whole-server.ts'

/** What was accepted, by what must be true of it. */
export interface Ledger {
  readonly minds: Set<string>
  /** The last frame that was said to be stored, by run. */
  readonly frames: Map<string, number>
  /** Requests without an answer in time. */
  readonly hung: string[]
}

/** An empty one. */
export const emptyLedger = (): Ledger => ({ minds: new Set(), frames: new Map(), hung: [] })

/** A request has been answered, or its connection has broken, by then, ms. */
const patienceMs = 120_000

/** The answer as JSON with its status; undefined where the server is away or has cut it off. */
async function post(
  ledger: Ledger,
  url: string,
  {
    body,
    id,
    type = 'application/json',
  }: { readonly body: string; readonly id: string; readonly type?: string },
): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> } | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': type, 'causeway-request': id },
      body,
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') ledger.hung.push(`${url} ${id}`)
    return undefined
  }
}

/** Creates minds, one after the other; a broken connection is tried again under the same request id. */
export async function createMinds(
  server: WholeServer,
  { name, until, ledger }: { readonly name: string; readonly until: number; readonly ledger: Ledger },
): Promise<void> {
  for (let at = 1; Date.now() < until; at += 1) {
    const mind_id = `${name}-${at}`
    const body = JSON.stringify({ mind_id, config: { entity_id: mind_id, traits: ['calm'] } })
    while (Date.now() < until) {
      const answer = await post(ledger, `${server.url}/api/apps/minds/tools/create_mind`, {
        body,
        id: mind_id,
      })
      if (answer?.status === 200) {
        ledger.minds.add(mind_id)
        break
      }
      await wait(30)
    }
  }
}

/** Records a run frame by frame, as an engine does, and goes on after what the server says that it has. */
export async function recordRun(
  server: WholeServer,
  {
    name,
    until,
    ledger,
    random,
  }: { readonly name: string; readonly until: number; readonly ledger: Ledger; readonly random: Random },
): Promise<void> {
  for (let next = 1; Date.now() < until; ) {
    const count = 1 + random.below(20)
    const lines = Array.from({ length: count }, (_, at) => frame(next + at))
    const answer = await post(ledger, `${server.url}/api/apps/replay/recordings/${name}/frames`, {
      body: lines.join('\n'),
      id: `${name}-${next}`,
      type: 'application/x-ndjson',
    })
    const last = answer?.status === 200 ? answer.json.last_frame_id : undefined
    if (typeof last !== 'number') await wait(30)
    else {
      ledger.frames.set(name, last)
      next = last + 1
    }
  }
}

const frame = (id: number): string =>
  JSON.stringify({
    frame_id: id,
    time: id / 60,
    bodies: [{ id: 1, position: [0, id, 0], velocity: [0, 1, 0], orientation: [1, 0, 0, 0] }],
  })

/** What was accepted and is not there. */
export async function missingFrom(ledger: Ledger, { url }: WholeServer): Promise<string[]> {
  const call = async (tool: string, args: object) =>
    (await (
      await fetch(`${url}/api/apps/minds/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(args),
      })
    ).json()) as { minds?: readonly { mind_id: string }[]; next_after?: string | null }
  const there = new Set<string>()
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await call('list_minds', { after, limit: 500 })
    for (const { mind_id } of page.minds ?? []) there.add(mind_id)
    after = page.next_after ?? undefined
  }
  const missing = [...ledger.minds].filter((mind) => !there.has(mind)).map((mind) => `the mind ${mind}`)
  for (const [name, last] of ledger.frames) {
    const state = (await (await fetch(`${url}/api/apps/replay/recordings/${name}`)).json()) as {
      last_frame_id?: number
    }
    if ((state.last_frame_id ?? 0) < last)
      missing.push(`frame ${last} of ${name}, which ends at ${state.last_frame_id}`)
  }
  return missing
}
