import { type App, defineApp, type Registrar } from '@causeway/app-kit'
import { GatewayError } from '@causeway/gateway'
import { LoginError } from '@causeway/oauth'
import { CausewayError, formatErrorText } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import { WorkerError } from '@causeway/worker'
import { z } from 'zod'
import { ServerError } from '../errors.ts'
import { ToolSearch } from '../registry/tool-search.ts'
import { addActivityRoutes } from './activity-routes.ts'
import { addAuditTools } from './audit-tools.ts'
import { addBackupTools } from './backup-tools.ts'
import { callTools } from './call-tools.ts'
import { addFindTools } from './find-tools.ts'
import type { CausewayStore, ServerParts } from './store.ts'

export function createCausewayApp(core: () => ServerParts): App {
  const app = defineApp(
    {
      name: 'Causeway',
      about:
        'The server itself: its apps and their health, the audit of calls, refreshing the tool lists, and backups.',
      errors: [CausewayError, StoreError, WorkerError, ServerError, GatewayError, LoginError],
      open: (): CausewayStore => ({ core, search: new ToolSearch(() => core().registry) }),
      session: () => ({}),
      close: ({ search }) => search.close(),
    },
    (app) => {
      addHealthTools(app)
      addRegistryTools(app)
      addAuditTools(app)
      addBackupTools(app)
      addFindTools(app)
      addActivityRoutes(app)
    },
  )
  return { ...app, tools: [...app.tools, ...callTools] }
}

function addHealthTools(app: Registrar<CausewayStore, object>): void {
  app.tool('get_health', {
    about:
      'Return the version, uptime and data folder of the server, and the state of every app. Use it to find out whether an app failed.',
    searchHint: 'is server ok, status, apps running, broken',
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
          ? `All ${Object.keys(report.apps).length} apps are healthy.`
          : `Failed: ${failed.map(([name, { reason, message }]) => `${name} (${reason}: ${message})`).join(', ')}.`
      return { ...report, summary }
    },
  })
}

function addRegistryTools(app: Registrar<CausewayStore, object>): void {
  app.tool('list_apps', {
    about:
      'List the apps of this server, each with its description and the names of its tools. Use it to find out what the server offers; for one task use find_tools.',
    searchHint: 'what can this server do',
    input: {},
    output: {
      apps: z.array(z.object({ name: z.string(), about: z.string(), tools: z.array(z.string()) })),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { args: {} },
    run(_, { store }) {
      const apps = store.core().registry.apps.map(({ name, about, tools }) => ({
        name,
        about,
        tools: tools.map((tool) => tool.name),
      }))
      const count = apps.reduce((sum, { tools }) => sum + tools.length, 0)
      return { apps, summary: `${apps.length} apps with ${count} tools.` }
    },
  })

  app.tool('refresh_registry', {
    about:
      'Refresh the tool lists now, load changed user apps, and notify every client if a list changed. Use it after editing a user app.',
    searchHint: 'reload edited app, own tool file changed',
    input: {},
    output: { changed: z.boolean(), hash: z.string(), summary: z.string() },
    hints: { idempotent: true, destructive: false },
    example: { args: {} },
    async run(_, { store }) {
      const core = store.core()
      const { changed, hash } = await core.registry.refresh()
      const failures = core.failures.map(({ name, error }) => ` ${name} failed: ${formatErrorText(error)}.`)
      const summary = `The lists ${changed ? 'changed' : 'did not change'}.${failures.join('')}`
      return { changed, hash, summary }
    },
  })
}
