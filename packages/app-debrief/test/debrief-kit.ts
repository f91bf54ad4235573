/** Opening Debrief over copies of the plots, with the tools of the vault beside it where a test runs one. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallContext, type Env, makeRoots } from '@causeway/app-kit'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import type { ErrorObject } from '@causeway/protocol'
import { asCausewayError, errorObject } from '@causeway/protocol'
import type { Test } from 'tap'
import debrief from '../src/index.ts'
import type { Debrief } from '../src/store.ts'

/** Folder of the committed plots. */
export const plots = new URL('../../../fixtures/plots/', import.meta.url).pathname

/** Debrief over a folder of plots. */
export interface OpenDebrief {
  readonly app: TestApp
  readonly store: Debrief
  /** the only root */
  readonly folder: string
  readonly dir: string
  client(options?: { shared?: boolean }): Client
  /** The text of a plot file as it is on disk. */
  file(name: string): string
  /** Ends it and opens it again over the same data. */
  again(): Promise<OpenDebrief>
}

/** The data of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
export type Data = Readonly<Record<string, any>>

/** A client whose calls give data, or the error that they must give. */
export interface Client extends TestClient {
  ask(tool: string, args?: object): Promise<Data>
  refusal(tool: string, args?: object): Promise<ErrorObject>
}

/** What a test may change. */
export interface KitOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly call?: Env['call']
  readonly now?: () => number
  /** In the system's folder for temporary files, which other users can reach, instead of in the checkout. */
  readonly isShared?: boolean
}

/** Opens Debrief over copies of these plots, none of which is open yet. */
export async function openDebrief(
  t: Test,
  names: readonly string[],
  options: KitOptions = {},
): Promise<OpenDebrief> {
  const dir = emptyFolders(t, options.isShared)
  const folder = join(dir, 'plots')
  mkdirSync(folder, { recursive: true })
  for (const name of names) copyFileSync(join(plots, `${name}.plot.json`), join(folder, `${name}.plot.json`))
  return openOver(t, dir, options)
}

/** What a test has open. */
const openOf = new WeakMap<Test, (() => Promise<void>)[]>()

/** A folder with `plots` and `data`, both empty; what is opened over it is closed before tap removes it. */
export function emptyFolders(t: Test, isShared = false): string {
  const open: (() => Promise<void>)[] = []
  openOf.set(t, open)
  // Before testdir: tap removes the folder before it runs what is registered after.
  t.teardown(async () => {
    for (const close of open.reverse()) await close()
    if (isShared) rmSync(dir, { recursive: true })
  })
  if (!isShared) return t.testdir({ plots: {}, data: {} })
  const dir = mkdtempSync(join(tmpdir(), 'causeway-debrief-'))
  chmodSync(dir, 0o755)
  for (const name of ['plots', 'data']) mkdirSync(join(dir, name))
  return dir
}

/** Opens Debrief over such a folder. */
export async function openOver(t: Test, dir: string, options: KitOptions = {}): Promise<OpenDebrief> {
  const folder = join(dir, 'plots')
  const { settings = {}, call, now = Date.now } = options
  const app = await openForTest(debrief, {
    dir: join(dir, 'data'),
    roots: makeRoots(() => [folder], 'CAUSEWAY_PLOT_ROOTS'),
    settings: { plotSaveMs: 0, ...settings },
    now,
    ...(call === undefined ? {} : { call }),
  })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await app.close()
    isOpen = false
  }
  openOf.get(t)?.push(close)
  const ended = { ...app, close }
  return {
    app: ended,
    store: app.store as Debrief,
    folder,
    dir,
    client: (how) => clientOf(app.client(how)),
    file: (name) => readFileSync(join(folder, `${name}.plot.json`), 'utf8'),
    async again() {
      await close()
      // The calls of a test are numbered anew: later than answers are kept, none of them is a repeat.
      return openOver(t, dir, { ...options, now: () => now() + 660_000 })
    },
  }
}

/** A client with these plots open; calls of several name one. */
export async function ask(t: Test, name: string, options: KitOptions = {}): Promise<Client & OpenDebrief> {
  const opened = await openDebrief(t, [name], options)
  const client = opened.client()
  await client.ask('open_plot', { filename: `${name}.plot.json` })
  return { ...opened, ...client }
}

const clientOf = (client: TestClient): Client => ({
  ...client,
  ask: (tool, args = {}) => client.call(tool, args),
  async refusal(tool, args = {}) {
    try {
      const answer = await client.call(tool, args)
      throw new Error(`${tool} did not fail: ${JSON.stringify(answer)}`)
    } catch (error) {
      const known = errorObject(asCausewayError(error))
      if (known.code === 'INTERNAL') throw error
      return known
    }
  },
})

/** A vault of tests: functions by the name of the tool, with what they want of the plot. */
export const vaultOf =
  (tools: Readonly<Record<string, { inject?: object; run(args: Data): unknown }>>): Env['call'] =>
  async (_app: string, tool: string, args: unknown, _ctx: CallContext) => {
    if (tool === 'list_tools')
      return {
        tools: Object.entries(tools).map(([name, { inject = {} }]) => ({ name, about: name, inject })),
      }
    return tools[tool]?.run(args as Data)
  }
