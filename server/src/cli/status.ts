import type { Config } from '../config.ts'
import { findRunning, type ServerNote } from '../running.ts'
import { version } from '../version.ts'
import { askHealth, type Report } from './ask-server.ts'
import { byteText } from './byte-text.ts'
import { type Call, command, misuse } from './command.ts'
import { duration } from './duration.ts'

const notRunning = 3

export const statusCommand = command({
  name: 'status',
  about: 'is a server running, where, since when, and are its apps well',
  forms: [''],
  details:
    'It looks for the server of the data folder, and names one that holds the port with another folder.',
  flags: { json: { about: 'print what is known as JSON' } },
  settings: ['--data-dir', '--port', '--token-file'],
  exits: { 0: 'it runs and is well', 1: 'it runs and is not well, or does not answer', 3: 'it does not run' },
  examples: ['causeway status', 'causeway status --json | jq .url'],
  async run({ words, config, flags, say, note }) {
    if (words.length > 0) throw misuse('status', `status takes no words: ${words.join(' ')}`)
    const settings = config()
    const found = findRunning(settings.dataDir)
    if (found.state !== 'running') return tellAbsence(found.state, settings, { flags, say, note })
    const { server } = found
    const answer = await askHealth(server.url, server.token_file ?? settings.tokenFile)
    const report = answer.kind === 'report' ? answer.report : undefined
    if (flags.json) say(JSON.stringify({ running: true, server, report: report ?? null }, null, 2))
    else for (const line of linesOf(server, report, settings.dataDir)) say(line)
    if (answer.kind === 'unauthorized') note('it wants a token: name the file that it reads by --token-file')
    else if (answer.kind !== 'report')
      note(`it does not answer (${answer.kind === 'silent' ? answer.why : answer.what}); see causeway logs`)
    else if (server.version !== version)
      note(`this program is version ${version}: stop the server and start it again to update it`)
    return report?.status === 'ok' ? 0 : 1
  },
})

function linesOf(server: ServerNote, report: Report | undefined, dataDir: string): readonly string[] {
  const upS = Math.max(0, Date.now() - server.started_ms) / 1000
  const head: [string, string][] = [
    ['status', report?.status ?? 'unknown'],
    ['url', `${server.url}/mcp`],
    ['version', server.version],
    ['pid', String(server.pid)],
    ['up', `${duration(upS)}, since ${new Date(server.started_ms).toISOString()}`],
    ...memoryLine(report?.memory),
    ['data', dataDir],
  ]
  const apps = Object.entries(report?.apps ?? {}).map(
    ([name, { status, message }]) => `  ${name.padEnd(12)} ${status}${message ? `: ${message}` : ''}`,
  )
  return [
    ...head.map(([name, value]) => `${name.padEnd(8)} ${value}`),
    ...(apps.length > 0 ? ['apps', ...apps] : []),
  ]
}

/** What the server uses, of how much; a server of before does not say it. */
function memoryLine(memory: Report['memory']): readonly [string, string][] {
  if (memory === undefined) return []
  const { status, used_bytes, limit_bytes } = memory
  const limit = limit_bytes === 0 ? '' : ` of ${byteText(limit_bytes)}`
  return [['memory', `${byteText(used_bytes)}${limit}${status === 'ok' ? '' : `, ${status}`}`]]
}

/** Nothing serves this folder. A server on the port with another folder is what most people then look for. */
async function tellAbsence(
  state: 'none' | 'gone' | 'elsewhere',
  { dataDir, host, port, tokenFile }: Config,
  { flags, say, note }: { flags: { json: boolean } } & Pick<Call, 'say' | 'note'>,
): Promise<number> {
  if (flags.json) say(JSON.stringify({ running: false, server: null, report: null }, null, 2))
  else say(`not running: no server uses ${dataDir}`)
  if (state === 'gone') note('the last one ended without saying so; the next start tidies up')
  if (state === 'elsewhere')
    note('one of another machine or container does, whose processes are not seen here')
  const other = port === 0 ? undefined : await askHealth(`http://${host}:${port}`, tokenFile)
  if (other?.kind === 'report')
    note(`the one on port ${port} uses another folder: causeway status --data-dir ${other.report.data_dir}`)
  return notRunning
}
