/** The server's process: settings, core, HTTP, signals. The only place that ends it. */

import { CausewayError, errorText, isCausewayError } from '@causeway/protocol'
import { lockFolder } from '@causeway/store'
import type { Logger } from 'pino'
import { openTokens, type Tokens } from './access/token-file.ts'
import { apps } from './apps.ts'
import { type Config, settings } from './config.ts'
import { isLoopback } from './http/admission.ts'
import { openHttp } from './http/server.ts'
import { watchLoad } from './limit/load.ts'
import { openLog } from './log.ts'
import { openLogFiles } from './log-files.ts'
import { openCore } from './open-core.ts'
import { portInUse } from './port-in-use.ts'
import { printTools } from './print-tools.ts'
import { readConfig } from './read-config.ts'
import { addedRoots, addRoot } from './roots.ts'
import { onStop } from './stop.ts'
import { usage } from './usage.ts'
import { version } from './version.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Serves until it is told to stop. */
async function serve(config: Config): Promise<void> {
  if (!config.enabled) return say('Causeway is switched off by MCP_SERVER_ENABLED=false.')
  const folder = lockFolder(config.dataDir, { version })
  const rolling = { bytes: config.logFileBytes, count: config.logFileCount }
  const files = config.logFiles ? await openLogFiles(config.dataDir, rolling) : undefined
  const log = openLog({ extra: config.extraLogging, files })
  const tokens = tokensOf(config, log)
  const core = await openCore({ config, log, apps, auditLines: files?.audit })
  const load = watchLoad({ lagMs: config.shedLagMs, heapPercent: config.shedHeapPercent, log })
  const http = await openHttp(core, {
    host: config.host,
    tokens,
    port: config.port,
    bodyLimitBytes: config.bodyLimitBytes,
    allowedHosts: config.allowedHosts,
    aliases: config.listen,
    legacyErrors: config.legacyErrors,
    crowd: { max: config.maxInflight, isOverloaded: load.isTooMuch },
    log,
  }).catch(async (error: unknown) => {
    await core.close()
    throw await portInUse(error, config.port)
  })
  log.info({ url: `${http.url}/mcp`, data_dir: config.dataDir }, 'Causeway is ready')
  for (const { app, port } of http.aliases)
    log.info({ app, url: http.url.replace(/:\d+$/, `:${port}`) }, 'an app has a port of its own')
  process.on(
    'SIGHUP',
    () => void core.refresh().catch((err: unknown) => log.error({ err }, 'refresh failed')),
  )
  onStop(async (why) => {
    log.info({ why }, 'stopping')
    await http.close(config.shutdownMs)
    await core.close()
    log.info({}, 'stopped')
    await files?.close()
    folder.release()
  })
}

/** The tokens that callers must show; throws `INVALID_SETTING` where the address wants some and there are none. */
function tokensOf({ host, tokenFile }: Config, log: Logger): Tokens | undefined {
  if (tokenFile !== undefined) return openTokens(tokenFile, { log })
  if (isLoopback(host)) return undefined
  throw new CausewayError(
    'INVALID_SETTING',
    `without tokens this server listens to its own machine only: ${host}`,
    {
      remedy: `give tokens by ${settings.tokenFile.env}, or leave ${settings.host.env} out`,
    },
  )
}

/** `causeway roots`, `causeway roots add <folder>` */
function roots({ dataDir }: Config, [verb, folder]: readonly string[]): void {
  if (verb === 'add' && folder !== undefined) for (const root of addRoot(dataDir, folder)) say(root)
  else if (verb === undefined) for (const root of addedRoots(dataDir)) say(root)
  else fail('usage: causeway roots [add <folder>]')
}

function fail(line: string): void {
  process.stderr.write(`causeway: ${line}\n`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const {
    config,
    words,
    help,
    version: wantsVersion,
  } = readConfig({
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
  })
  const [command = 'serve', ...rest] = words
  if (help) return say(usage())
  if (wantsVersion) return say(version)
  if (command === 'serve' && rest.length === 0) return serve(config)
  if (command === 'tools' && rest.length === 0) return say(printTools())
  if (command === 'roots') return roots(config, rest)
  fail(`unknown command: ${words.join(' ')}; see causeway --help`)
}

await main().catch((error: unknown) => {
  fail(isCausewayError(error) ? errorText(error) : String((error as Error)?.stack ?? error))
})
