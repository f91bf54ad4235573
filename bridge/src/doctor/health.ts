import { parsed } from '../parsed.ts'
import type { Reply } from '../reply.ts'
import { version } from '../version.ts'
import { type Check, ok, warn } from './check.ts'

/** What `GET /health` tells: readiness, version and data folder. A server of another make has no such path. */
export function healthChecks({ status, body }: Reply): Check[] {
  const report = (body === undefined ? {} : (parsed(body) ?? {})) as Readonly<Record<string, unknown>>
  if (typeof report.status !== 'string')
    return [ok('health', `no /health here (HTTP ${status}): not a Causeway server, nothing to compare`)]
  return [readiness(report), versionCheck(String(report.version)), dataCheck(report.data_dir)]
}

function readiness({ status, apps }: Readonly<Record<string, unknown>>): Check {
  const names = Object.keys(apps ?? {})
  if (status === 'ok') return ok('health', `ready, apps: ${names.join(', ') || 'none'}`)
  const ill = Object.entries((apps ?? {}) as Readonly<Record<string, { status?: unknown }>>)
    .filter(([, app]) => app.status !== 'ok')
    .map(([name]) => name)
  return warn(
    'health',
    `${status}${ill.length === 0 ? '' : `: ${ill.join(', ')}`}`,
    'see GET /health for the reason',
  )
}

const versionCheck = (server: string): Check =>
  server === version
    ? ok('version', `bridge and server ${version}`)
    : warn(
        'version',
        `bridge ${version}, server ${server}`,
        'restart the server, so that both are of one version',
      )

const dataCheck = (folder: unknown): Check =>
  typeof folder === 'string'
    ? ok('data', folder)
    : warn('data', 'the server names no data folder', 'start it with CAUSEWAY_DATA_DIR')
