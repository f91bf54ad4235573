/** What clients of a soak do: the examples of every app, which are calls as people make them, by every way there is. */
import { pathName } from '@causeway/protocol'
import { WebSocket } from 'ws'
import { documented } from '../../scripts/docs/makers.ts'
import { faultsOf } from '../fuzz/judge.ts'
import { openWays, type Ways } from '../fuzz/ways.ts'
import type { Random } from '../random.ts'
import type { WholeServer } from './whole-server.ts'

/** Calls that belong together, in order. */
export type Story = readonly { readonly app: string; readonly name: string; readonly args: object }[]

/** Each would leave a copy of everything behind. */
const rare: ReadonlySet<string> = new Set(['make_backup'])

/** Of each app the stories of its tools; those that begin a run of a project's tests are few. */
export const stories: readonly (readonly Story[])[] = documented.map(({ name: app, tools }) =>
  tools
    .filter(({ name }) => !rare.has(name))
    .map(({ name, example: { before = [], args } }) => [
      ...before.map((one) => ({ app, name: one.tool, args: one.args })),
      { app, name, args },
    ]),
)

/** What the control server is asked: the same ways, and next to no work behind them. */
export const trivial: readonly (readonly Story[])[] = [[[{ app: 'Causeway', name: 'list_apps', args: {} }]]]

/** What a client counted. */
export interface Tally {
  sent: number
  answered: number
  readonly faults: string[]
}

/** One client for as long as it is wanted: it opens its sessions, tells stories, and goes as a good client does. */
export async function tell(
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
      for (const call of random.pick(random.pick(choices))) await ask(ways, call, { server, random, tally })
      if (random.below(4) === 0) await socket.ask()
      if (random.below(8) === 0) await look(ways, { server, random, tally })
    }
  } finally {
    socket.close()
    await ways.close()
  }
}

/** One story, told by a client of its own. */
export async function tellOnce(
  server: WholeServer,
  { random, tally, story }: { readonly random: Random; readonly tally: Tally; readonly story: Story },
): Promise<void> {
  const ways = await openWays(server)
  try {
    for (const call of story) await ask(ways, call, { server, random, tally })
  } finally {
    await ways.close()
  }
}

type Teller = { readonly server: WholeServer; readonly random: Random; readonly tally: Tally }

async function ask(ways: Ways, call: Story[number], { server, random, tally }: Teller): Promise<void> {
  const way = random.pick(ways.names)
  tally.sent += 1
  const { form, answer } = await ways.call(way, call, call.args)
  tally.answered += 1
  const faults = faultsOf(answer, form, server)
  // An answer that says that a worker was lost is an answer, and a fault where nobody killed one.
  if (answer.text.includes('WORKER_LOST')) faults.push('a worker was lost')
  for (const fault of faults) tally.faults.push(`${way} ${call.app}.${call.name}: ${fault}`)
}

const pages = ['/health', '/metrics', '/openapi.json', '/api/apps', '/api/apps/causeway/audit?limit=20']

async function look(ways: Ways, { server, random, tally }: Teller): Promise<void> {
  tally.sent += 1
  const { status } = await ways.send({ url: `${server.url}${random.pick(pages)}`, method: 'GET' })
  tally.answered += 1
  if (status !== 200) tally.faults.push(`a page answered ${status}`)
}

/** The command socket of Debrief: each command has its answer, in order. */
async function openSocket({ own }: WholeServer, tally: Tally) {
  const socket = new WebSocket(`${own.get(pathName('Debrief'))}/`.replace('http', 'ws'))
  const waiting: (() => void)[] = []
  socket.on('message', (data) => {
    if (!data.toString().includes('Connected to')) waiting.shift()?.()
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return {
    async ask(): Promise<void> {
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
