/** Causeway: the server's own tools, an app like every other. */
import { type App, defineApp, type Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { auditTools } from './audit-tools.ts'
import { backupTools } from './backup-tools.ts'
import type { Own, OwnCore } from './own.ts'

/** The app over a server that may not be complete yet: `core` is asked at each call. */
export const causewayApp = (core: () => OwnCore): App =>
  defineApp(
    {
      name: 'Causeway',
      about:
        'The server itself: which apps it serves, whether they are well, what was called, a fresh look for tools, and backups.',
      open: () => ({ core }),
      session: () => ({}),
    },
    (app) => {
      healthTools(app)
      registryTools(app)
      auditTools(app)
      backupTools(app)
    },
  )

function healthTools(app: Registrar<Own, object>): void {
  app.tool('get_health', {
    about: 'Version, uptime and data folder of the server, and the state of every app.',
    input: {},
    output: {
      status: z.enum(['ok', 'degraded']),
      version: z.string(),
      uptime_s: z.number(),
      apps: z.record(z.string(), z.unknown()),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { args: {} },
    async run(_, { store }) {
      const report = await store.core().health()
      const failed = Object.entries(report.apps).filter(([, { status }]) => status !== 'ok')
      const summary =
        failed.length === 0
          ? `All ${Object.keys(report.apps).length} apps are well.`
          : `Not well: ${failed.map(([name, { reason }]) => `${name} (${reason})`).join(', ')}.`
      return { ...report, summary }
    },
  })
}

function registryTools(app: Registrar<Own, object>): void {
  app.tool('list_apps', {
    about: 'The apps that are served, each with what it is for and the names of its tools.',
    input: {},
    output: {
      apps: z.array(z.object({ name: z.string(), about: z.string(), tools: z.array(z.string()) })),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { args: {} },
    run(_, { store }) {
      const apps = store
        .core()
        .apps()
        .map(({ name, about, tools }) => ({ name, about, tools: tools.map((tool) => tool.name) }))
      const count = apps.reduce((sum, { tools }) => sum + tools.length, 0)
      return { apps, summary: `${apps.length} apps with ${count} tools.` }
    },
  })

  app.tool('refresh_registry', {
    about: 'Looks for tools again now, loads changed user apps, and tells every client if a list changed.',
    input: {},
    output: { changed: z.boolean(), hash: z.string(), summary: z.string() },
    hints: { idempotent: true, destructive: false },
    example: { args: {} },
    async run(_, { store }) {
      const { changed, hash } = await store.core().refresh()
      return { changed, hash, summary: changed ? 'The lists changed.' : 'The lists are as before.' }
    },
  })
}
