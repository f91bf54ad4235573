/** The product as a process, with data for every app, and with secrets and traps that reveal defects. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type ServerProcess, startServer } from '../e2e/server-process.ts'
import { appPaths, createDataFolders } from './data-folders.ts'
import { startLeakyProvider } from './endpoint.ts'
import type { Traps } from './nasty.ts'

/** Returns a unique secret. */
export const planted = (name: string): string => `planted-${name}-0123456789abcdef`

/** Secrets that must not appear in any output. */
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

/** A running product. */
export interface Product {
  readonly server: ServerProcess
  /** `http://127.0.0.1:3100` */
  readonly url: string
  /** URLs of the apps' own ports, by the URL name of the app. */
  readonly own: ReadonlyMap<string, string>
  readonly traps: Traps
  /** The folder that contains all data. */
  readonly base: string
  readonly dataDir: string
}

/** Headers of every client, with secrets. */
export const fields: Readonly<Record<string, string>> = {
  authorization: `Bearer ${planted('token')}`,
  cookie: `id=${planted('cookie')}`,
  'x-api-key': planted('api-header'),
}

/** Starts the product in a new folder. It is stopped and the folder is removed at the end of the test. */
export async function startProduct(
  t: Test,
  { env = {}, apps = appPaths }: { env?: Readonly<Record<string, string>>; apps?: readonly string[] } = {},
): Promise<Product> {
  const base = mkdtempSync(join(tmpdir(), 'causeway-product-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const { link, settings, ...folders } = createDataFolders(base)
  writeFileSync(join(base, 'tokens'), `${planted('token')} laptop\n`, { mode: 0o600 })
  writeFileSync(join(base, 'bare-token'), planted('token'), { mode: 0o600 })
  writeFileSync(join(folders.outside, 'secret.txt'), `${planted('outside')}\n`)
  writeFileSync(join(folders.outside, 'secret.plot.json'), JSON.stringify({ note: planted('outside') }))
  const endpoint = await startLeakyProvider(t)
  const { server, url } = await startServer(t, {
    dir: folders.data,
    cwd: folders.roots,
    env: {
      // `env`, which is a test command of Trm here, prints it. Installed programs are not part of the code.
      PATH: (process.env.PATH ?? '')
        .split(':')
        .filter((folder) => !folder.includes('node_modules'))
        .join(':'),
      ...settings,
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
