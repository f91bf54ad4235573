/** The calls of soak clients: the examples of every app, sent in every way. */
import { pathName } from '@causeway/protocol'
import { WebSocket } from 'ws'
import { documented } from '../../scripts/docs/makers.ts'
import { findFaults } from '../fuzz/judge.ts'
import { openWays, type Ways } from '../fuzz/ways.ts'
import type { Random } from '../random.ts'
import type { WholeServer } from './whole-server.ts'

/** A sequence of related calls. */
export type Story = readonly { readonly app: string; readonly name: string; readonly args: object }[]

/** Tools that would leave a copy of all data. */
const excluded: ReadonlySet<string> = new Set(['make_backup'])

/** The stories of the tools of each app. */
export const stories: readonly (readonly Story[])[] = documented.map(({ name: app, tools }) =>
  tools
    .filter(({ name }) => !excluded.has(name))
    .map(({ name, example: { before = [], args } }) => [
      ...before.map((one) => ({ app, name: one.tool, args: one.args })),
      { app, name, args },
    ]),
)

/** Stories for the control server with trivial calls. */
export const trivial: readonly (readonly Story[])[] = [[[{ app: 'Causeway', name: 'list_apps', args: {} }]]]

/** Counts of a client. */
export interface Tally {
  sent: number
  answered: number
  readonly faults: string[]
}

/** Runs random stories with one client until `until`, then closes its sessions. */
export async function runStories(
  server: WholeServer,
  {
    random,
    until,
    tally,
    choices,
  }: {
    readonly random: Random
    readonly until: number
    readonly tally: Tally
    readonly choices: readonly (readonly Story[])[]
  },
): Promise<void> {
  const ways = await openWays(server)
  const socket = await openSocket(server, tally)
  try {
    while (Date.now() < until) {
      for (const call of random.pick(random.pick(choices))) await send(ways, call, { server, random, tally })
      if (random.below(4) === 0) await socket.send()
      if (random.below(8) === 0) await readPage(ways, { server, random, tally })
    }
  } finally {
    socket.close()
    await ways.close()
  }
}

/** Runs a story with a new client. */
export async function runStory(
  server: WholeServer,
  { random, tally, story }: { readonly random: Random; readonly tally: Tally; readonly story: Story },
): Promise<void> {
  const ways = await openWays(server)
  try {
    for (const call of story) await send(ways, call, { server, random, tally })
  } finally {
    await ways.close()
  }
}

type CallOptions = { readonly server: WholeServer; readonly random: Random; readonly tally: Tally }

async function send(ways: Ways, call: Story[number], { server, random, tally }: CallOptions): Promise<void> {
  const way = random.pick(ways.names)
  tally.sent += 1
  const { form, response } = await ways.call(way, call, call.args)
  tally.answered += 1
  const faults = findFaults(response, form, server)
  // WORKER_LOST is a valid error code, but a fault here because no worker was killed.
  if (response.text.includes('WORKER_LOST')) faults.push('a worker was lost')
  for (const fault of faults) tally.faults.push(`${way} ${call.app}.${call.name}: ${fault}`)
}

const pages = ['/health', '/metrics', '/openapi.json', '/api/apps', '/api/apps/causeway/audit?limit=20']

async function readPage(ways: Ways, { server, random, tally }: CallOptions): Promise<void> {
  tally.sent += 1
  const { status } = await ways.send({ url: `${server.url}${random.pick(pages)}`, method: 'GET' })
  tally.answered += 1
  if (status !== 200) tally.faults.push(`a page returned ${status}`)
}

/** Opens the command socket of Debrief, which answers commands in order. */
async function openSocket({ own }: WholeServer, tally: Tally) {
  const socket = new WebSocket(`${own.get(pathName('Debrief'))}/`.replace('http', 'ws'))
  const waiting: (() => void)[] = []
  socket.on('message', (data) => {
    if (!data.toString().includes('Connected to')) waiting.shift()?.()
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return {
    async send(): Promise<void> {
      tally.sent += 1
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        socket.once('close', () => reject(new Error('the socket was closed')))
        socket.send(JSON.stringify({ command: 'list_open_plots' }))
      })
      socket.removeAllListeners('close')
      tally.answered += 1
    },
    close: () => socket.close(),
  }
}
