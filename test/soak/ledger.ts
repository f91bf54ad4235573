/** Records work that a server has accepted, and checks at the end that it is stored. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { WholeServer } from './whole-server.ts'

/** Accepted work. */
export interface Ledger {
  readonly minds: Set<string>
  /** The last acknowledged frame of each run. */
  readonly frames: Map<string, number>
  /** Requests without a response in time. */
  readonly hung: string[]
}

/** Creates an empty ledger. */
export const emptyLedger = (): Ledger => ({ minds: new Set(), frames: new Map(), hung: [] })

/** Response timeout in milliseconds. */
const timeoutMs = 120_000

/** Returns the status and JSON of a response, or `undefined` if the connection failed. */
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
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': type, 'causeway-request': id },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') ledger.hung.push(`${url} ${id}`)
    return undefined
  }
}

/** Creates minds sequentially. Retries with the same request id if a connection fails. */
export async function createMinds(
  server: WholeServer,
  { name, until, ledger }: { readonly name: string; readonly until: number; readonly ledger: Ledger },
): Promise<void> {
  for (let at = 1; Date.now() < until; at += 1) {
    const mind_id = `${name}-${at}`
    const body = JSON.stringify({ mind_id, config: { entity_id: mind_id, traits: ['calm'] } })
    while (Date.now() < until) {
      const response = await post(ledger, `${server.url}/api/apps/minds/tools/create_mind`, {
        body,
        id: mind_id,
      })
      if (response?.status === 200) {
        ledger.minds.add(mind_id)
        break
      }
      await wait(30)
    }
  }
}

/** Records a run, as an engine does. Continues after the last frame that the server acknowledged. */
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
    const response = await post(ledger, `${server.url}/api/apps/replay/recordings/${name}/frames`, {
      body: lines.join('\n'),
      id: `${name}-${next}`,
      type: 'application/x-ndjson',
    })
    const last = response?.status === 200 ? response.json.last_frame_id : undefined
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

/** Returns accepted work that is not stored. */
export async function findMissing(ledger: Ledger, { url }: WholeServer): Promise<string[]> {
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
