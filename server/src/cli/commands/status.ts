import { findServer, type ServerRecord } from '../../process/server-file.ts'
import { version } from '../../process/version.ts'
import { type CommandCall, defineCommand, exitCodes } from '../command.ts'
import { formatBytes, formatDuration } from '../format.ts'
import { fetchHealth, type HealthReport, type HealthResult } from '../server-health.ts'

const statusFlags = { json: { about: 'print the status as JSON' } }

export const statusCommand = defineCommand({
  name: 'status',
  about: 'show whether a server runs, its address and start time, and the state of its apps',
  details:
    'It looks for the server of the data folder, and reports a server on the same port with another data folder.',
  flags: statusFlags,
  settings: ['--data-dir', '--port', '--token-file'],
  exits: {
    0: 'the server runs and is healthy',
    1: 'the server runs but is not healthy, or does not respond',
    3: 'the server does not run',
  },
  examples: ['causeway status', 'causeway status --json | jq .url'],
  async run(call) {
    const { flags, print, printJson, note } = call
    const settings = call.config()
    const serverState = findServer(settings.dataDir)
    if (serverState.state !== 'running') return reportNotRunning(serverState.state, call)
    const { server } = serverState
    const result = await fetchHealth(server.url, server.token_file ?? settings.tokenFile)
    const report = result.kind === 'report' ? result.report : undefined
    if (flags.json) printJson({ running: true, server, report: report ?? null })
    else for (const line of formatStatus(server, report, settings.dataDir)) print(line)
    const problem = describeProblem(result, server)
    if (problem !== undefined) note(problem)
    return report?.status === 'ok' ? 0 : 1
  },
})

function describeProblem(result: HealthResult, server: ServerRecord): string | undefined {
  if (result.kind === 'unauthorized') return 'the server requires a token: name its file with --token-file'
  if (result.kind !== 'report')
    return `the server does not answer (${result.reason}): see causeway logs, or restart it with causeway stop`
  if (server.version === version) return undefined
  return `the server is version ${server.version}, this program ${version}: run causeway stop and start it again`
}

function formatStatus(
  server: ServerRecord,
  report: HealthReport | undefined,
  dataDir: string,
): readonly string[] {
  const uptime = Math.max(0, Date.now() - server.started_ms) / 1000
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['status', report?.status ?? 'unknown'],
    ['url', `${server.url}/mcp`],
    ['version', server.version],
    ['pid', String(server.pid)],
    ['up', `${formatDuration(uptime)}, since ${new Date(server.started_ms).toISOString()}`],
    ['memory', report?.memory && formatMemory(report.memory)],
    ['data', dataDir],
  ]
  const apps = Object.entries(report?.apps ?? {}).map(
    ([name, { status, message }]) => `  ${name.padEnd(12)} ${status}${message ? `: ${message}` : ''}`,
  )
  return [
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(8)} ${value}`])),
    ...(apps.length > 0 ? ['apps', ...apps] : []),
  ]
}

function formatMemory({ status, used_bytes, limit_bytes }: NonNullable<HealthReport['memory']>): string {
  const limit = limit_bytes === 0 ? '' : ` of ${formatBytes(limit_bytes)}`
  return `${formatBytes(used_bytes)}${limit}${status === 'ok' ? '' : `, ${status}`}`
}

async function reportNotRunning(
  state: 'none' | 'gone' | 'elsewhere',
  { flags, config, print, printJson, note }: CommandCall<typeof statusFlags>,
): Promise<number> {
  const { dataDir, host, port, tokenFile } = config()
  if (flags.json) printJson({ running: false, server: null, report: null })
  else print(`no server is running with the data in ${dataDir}`)
  if (state === 'gone') note('the last server crashed or was killed; the next start continues with its data')
  if (state === 'elsewhere') note('a server on another machine or in a container uses this data folder')
  const otherServer = port === 0 ? undefined : await fetchHealth(`http://${host}:${port}`, tokenFile)
  if (otherServer?.kind === 'report')
    note(`another server runs on port ${port}: see causeway status --data-dir ${otherServer.report.data_dir}`)
  else if (state === 'none') note('start one: causeway serve; or name its data folder with --data-dir')
  return exitCodes.notRunning
}
