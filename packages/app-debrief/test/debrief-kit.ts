/** Opens Debrief with copies of the plots, and optionally with tools of a vault. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallContext, type Env, makeRoots } from '@causeway/app-kit'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import type { ErrorObject } from '@causeway/protocol'
import { asCausewayError, toErrorObject } from '@causeway/protocol'
import type { Test } from 'tap'
import { formatParts, type PlotDocument, parseInSteps } from '../src/domain/document/plot-document.ts'
import { runToEnd } from '../src/domain/document/plot-text.ts'
import debrief from '../src/index.ts'
import type { Debrief } from '../src/store.ts'

export const plots = new URL('../../../fixtures/plots/', import.meta.url).pathname

export interface OpenDebrief {
  readonly app: TestApp
  readonly store: Debrief
  /** The only root. */
  readonly folder: string
  readonly dir: string
  client(options?: { shared?: boolean }): Client
  file(name: string): string
  again(): Promise<OpenDebrief>
}

// biome-ignore lint/suspicious/noExplicitAny: tests read the members that they expect
export type Data = Readonly<Record<string, any>>

/** A client whose calls return data, or the expected error. */
export interface Client extends TestClient {
  ask(tool: string, args?: object): Promise<Data>
  refusal(tool: string, args?: object): Promise<ErrorObject>
}

export interface KitOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly call?: Env['call']
  readonly now?: () => number
  /** Uses the system's temporary folder instead of the checkout, because another user must have access. */
  readonly isShared?: boolean
}

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

const openApps = new WeakMap<Test, (() => Promise<void>)[]>()

/** Creates the empty folders `plots` and `data`. Apps that use these folders are closed before tap removes them. */
export function emptyFolders(t: Test, isShared = false): string {
  const open: (() => Promise<void>)[] = []
  openApps.set(t, open)
  // Registered before `testdir` is called, because tap otherwise removes the folder first.
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
  openApps.get(t)?.push(close)
  const ended = { ...app, close }
  return {
    app: ended,
    store: app.store as Debrief,
    folder,
    dir,
    client: (how) => createClient(app.client(how)),
    file: (name) => readFileSync(join(folder, `${name}.plot.json`), 'utf8'),
    async again() {
      await close()
      // Calls are numbered from 1 again. Stored results expire, so that calls do not return them.
      return openOver(t, dir, { ...options, now: () => now() + 660_000 })
    },
  }
}

export async function ask(t: Test, name: string, options: KitOptions = {}): Promise<Client & OpenDebrief> {
  const opened = await openDebrief(t, [name], options)
  const client = opened.client()
  await client.ask('open_plot', { filename: `${name}.plot.json` })
  return { ...opened, ...client }
}

const createClient = (client: TestClient): Client => ({
  ...client,
  ask: (tool, args = {}) => client.call(tool, args),
  async refusal(tool, args = {}) {
    try {
      const answer = await client.call(tool, args)
      throw new Error(`${tool} did not fail: ${JSON.stringify(answer)}`)
    } catch (error) {
      const known = toErrorObject(asCausewayError(error))
      if (known.code === 'INTERNAL') throw error
      return known
    }
  },
})

export const createVault =
  (tools: Readonly<Record<string, { inject?: object; run(args: Data): unknown }>>): Env['call'] =>
  async (_app: string, tool: string, args: unknown, _ctx: CallContext) => {
    if (tool === 'list_tools')
      return {
        tools: Object.entries(tools).map(([name, { inject = {} }]) => ({ name, about: name, inject })),
      }
    return tools[tool]?.run(args as Data)
  }

/** Throws `INVALID_PLOT`. */
export const parsePlot = (text: string, options?: Parameters<typeof parseInSteps>[1]): PlotDocument =>
  runToEnd(parseInSteps(text, options))

export const formatPlot = (document: PlotDocument): string => [...formatParts(document)].join('')
