/** A core that hosts the fixture server. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import type { Core } from '../../src/host/core.ts'
import { HttpServer } from '../../src/http/server.ts'
import { captureLog, openTestCore } from '../test-core.ts'

const program = fileURLToPath(new URL('../../../packages/gateway/test/fixture-server.ts', import.meta.url))

/** An entry of mcp.json that starts the fixture server. */
export const fixture = (flags: readonly string[] = [], causeway: object = {}, more: object = {}) => ({
  command: process.execPath,
  args: [program, ...flags],
  causeway: { share: 'shared', ...causeway },
  ...more,
})

export interface HostedCore {
  readonly core: Core
  readonly dir: string
  readonly logged: ReturnType<typeof captureLog>
  write(servers: object, more?: object): void
}

/** Writes mcp.json and opens a core in the same folder. */
export async function openHostedCore(
  t: Test,
  servers: object,
  {
    dir = t.testdir({ data: {} }),
    more = {},
    monotonicNow,
  }: { dir?: string; more?: object; monotonicNow?: () => number } = {},
): Promise<HostedCore> {
  const write = (mcpServers: object, others: object = more): void => {
    mkdirSync(`${dir}/data`, { recursive: true })
    writeFileSync(`${dir}/data/mcp.json`, JSON.stringify({ mcpServers, ...others }))
  }
  write(servers)
  const logged = captureLog()
  const core = await openTestCore(t, [], {
    ...{ dir, log: logged.log },
    ...(monotonicNow === undefined ? {} : { monotonicNow }),
  })
  return { core, dir, logged, write }
}

/** Serves a core over HTTP until the end of the test. Returns the URL. */
export async function serve(t: Test, core: Core): Promise<string> {
  const http = await HttpServer.open(core, {
    host: '127.0.0.1',
    port: 0,
    bodyLimitBytes: 1e6,
    inFlightLimits: { max: 256, isOverloaded: () => false },
  })
  t.teardown(() => http.close(1000))
  return http.url
}

export const status = (core: Core, name: string) =>
  core.hosted.gateway.describe().find((one) => one.name === name)

/** Waits until each named server is listed and its app is registered. */
export async function listed(core: Core, ...names: readonly string[]): Promise<void> {
  const text = (): string => core.registry.getLists({ path: '/mcp' }).toolsJson.legacy
  const apps = names.map((name) => status(core, name)?.app)
  await until(
    async () => text(),
    (tools) => apps.every((app) => tools.includes(`"${app}__`)),
  )
}
