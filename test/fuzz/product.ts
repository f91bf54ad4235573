/** The whole product as a process, with data for every app, and secrets and traps where a defect would show them. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type ServerProcess, startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { startIndiscreet } from './endpoint.ts'
import type { Traps } from './nasty.ts'

/** A text that stands nowhere but where it was put. */
export const planted = (name: string): string => `planted-${name}-0123456789abcdef`

/** Everything that must never show. */
export const secrets: readonly string[] = [
  'token',
  'model-key',
  'model-header',
  'vector-key',
  'help-vector-key',
  'environment',
  'outside',
  'cookie',
  'session',
  'api-header',
].map(planted)

/** A product that runs. */
export interface Product {
  readonly server: ServerProcess
  /** `http://127.0.0.1:3100` */
  readonly url: string
  /** The same of the port of an app, by the app's path. */
  readonly own: ReadonlyMap<string, string>
  readonly traps: Traps
  /** The folder that holds all of it. */
  readonly base: string
  readonly dataDir: string
}

/** What a client of the product shows of itself, secrets included. */
export const fields: Readonly<Record<string, string>> = {
  authorization: `Bearer ${planted('token')}`,
  cookie: `id=${planted('cookie')}`,
  'x-api-key': planted('api-header'),
}

const paths = ['causeway', 'replay', 'help', 'minds', 'debrief', 'toolvault', 'trm']

/** Starts it in a folder of its own; the test ends it and removes the folder. */
export async function startProduct(
  t: Test,
  { env = {}, apps = paths }: { env?: Readonly<Record<string, string>>; apps?: readonly string[] } = {},
): Promise<Product> {
  const base = mkdtempSync(join(tmpdir(), 'causeway-product-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const { link, ...folders } = layOut(base)
  const endpoint = await startIndiscreet(t)
  const { server, url } = await startServer(t, {
    dir: folders.data,
    cwd: folders.roots,
    env: {
      CAUSEWAY_RECORDING_ROOTS: join(folders.roots, 'recordings'),
      CAUSEWAY_PLOT_ROOTS: [join(folders.roots, 'plots'), join(folders.roots, 'tracks')].join(':'),
      CAUSEWAY_TRM_ROOTS: folders.projects,
      // Whole commands only: whatever else a test sends must not be run.
      CAUSEWAY_TRM_COMMANDS: 'true|false|env|python3 -m unittest|exit [0-9]',
      CAUSEWAY_HELP_SOURCES: `pages=${folders.pages}`,
      CAUSEWAY_HELP_BUILD: 'true',
      CAUSEWAY_TOKEN_FILE: join(base, 'tokens'),
      CAUSEWAY_LISTEN: apps.map((app) => `${app}:0`).join(','),
      CAUSEWAY_RATE_LIMITS: 'off',
      CAUSEWAY_LOG_FILES: 'true',
      EXTRA_LOGGING: 'true',
      MINDS_LLM_URL: endpoint,
      MINDS_LLM_PROVIDER: 'custom',
      MINDS_LLM_MODEL: 'indiscreet',
      MINDS_LLM_API_KEY: planted('model-key'),
      MINDS_LLM_OPTIONS: JSON.stringify({
        headers: { 'x-planted': planted('model-header') },
        max_retries: 0,
      }),
      MINDS_EMBEDDINGS_URL: endpoint,
      MINDS_EMBEDDINGS_DIMENSIONS: '64',
      MINDS_EMBEDDINGS_API_KEY: planted('vector-key'),
      CAUSEWAY_EMBEDDINGS_URL: endpoint,
      CAUSEWAY_EMBEDDINGS_DIMENSIONS: '64',
      CAUSEWAY_EMBEDDINGS_KEY: planted('help-vector-key'),
      AWS_SECRET_ACCESS_KEY: planted('environment'),
      ...env,
    },
  })
  const own = new Map<string, string>()
  for (const app of apps) {
    const line = await server.log.first(
      `the port of ${app}`,
      (one) => one.msg === 'an app has a port of its own' && one.app === app,
    )
    own.set(app, line.url)
  }
  const outsideFile = join(folders.outside, 'secret.txt')
  return {
    server,
    url,
    own,
    base,
    dataDir: folders.data,
    traps: { outsideFile, link, canary: join(base, 'canary') },
  }
}

function layOut(base: string) {
  const folder = (...names: string[]): string => join(base, ...names)
  const folders = {
    data: folder('data'),
    roots: folder('roots'),
    projects: folder('projects'),
    pages: folder('roots', 'pages'),
    outside: folder('outside'),
  }
  for (const one of Object.values(folders)) mkdirSync(one, { recursive: true })
  for (const name of ['recordings', 'plots', 'tracks', 'projects'])
    cpSync(
      join(repository, 'fixtures', name),
      name === 'projects' ? folders.projects : folder('roots', name),
      {
        recursive: true,
      },
    )
  writeFileSync(folder('tokens'), `${planted('token')} laptop\n`, { mode: 0o600 })
  writeFileSync(join(folders.outside, 'secret.txt'), `${planted('outside')}\n`)
  writeFileSync(join(folders.outside, 'secret.plot.json'), JSON.stringify({ note: planted('outside') }))
  writeFileSync(
    join(folders.pages, 'start.md'),
    '# Starting\n\nStart the server, then connect a client to it.\n',
  )
  writeFileSync(join(folders.pages, 'limits.md'), '# Limits\n\nCalls a second are limited for each client.\n')
  const link = 'way_out'
  for (const place of [
    folders.roots,
    folder('roots', 'plots'),
    folder('roots', 'recordings'),
    folder('projects', 'sums'),
  ])
    symlinkSync(folders.outside, join(place, link))
  return { ...folders, link }
}
