/** The server's process: core, HTTP, signals. */
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { dataFailure, lockFiles } from '@causeway/store'
import type { Logger } from 'pino'
import { openTokens, type Tokens } from './access/token-file.ts'
import { apps } from './apps.ts'
import { takeDataFolder } from './backup/data-folder.ts'
import { type Config, settings } from './config.ts'
import { isLoopback } from './http/admission.ts'
import { openHttp } from './http/server.ts'
import { watchLoad } from './limit/load.ts'
import { openLog, readableLines } from './log.ts'
import { openLogFiles } from './log-files.ts'
import { watchNpx } from './npx-above.ts'
import { openCore } from './open-core.ts'
import { portInUse } from './port-in-use.ts'
import { noteRunning } from './running.ts'
import { stderrLines } from './stderr-lines.ts'
import { onStop } from './stop.ts'
import { version } from './version.ts'

/** Serves until it is told to stop; resolves when it listens. */
export async function serve(config: Config): Promise<void> {
  if (!config.enabled) {
    process.stdout.write('Causeway is switched off by MCP_SERVER_ENABLED=false.\n')
    return
  }
  const folder = takeDataFolder(config.dataDir, { version })
  const rotation = { bytes: config.logFileBytes, count: config.logFileCount }
  const files = config.logFiles ? openLogFiles(config.dataDir, rotation) : undefined
  const lines = process.stderr.isTTY ? undefined : stderrLines()
  const log = openLog({ extra: config.extraLogging, destination: lines ?? (await readableLines()), files })
  const tokens = tokensOf(config, log)
  const core = await openCore({ config, log, apps, logFiles: files })
  const load = watchLoad({ lagMs: config.shedLagMs, heapPercent: config.shedHeapPercent, log })
  const http = await openHttp(core, {
    host: config.host,
    tokens,
    port: config.port,
    bodyLimitBytes: config.bodyLimitBytes,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    receiveTimeoutMs: config.receiveTimeoutMs,
    aliases: config.listen,
    legacyErrors: config.legacyErrors,
    crowd: { max: config.maxInflight, isOverloaded: load.isTooMuch },
    log,
  }).catch(async (error: unknown) => {
    await core.close()
    throw await portInUse(error, config.port)
  })
  try {
    noteRunning(config.dataDir, {
      url: http.url,
      version,
      started_ms: Date.now(),
      shutdown_ms: config.shutdownMs,
      ...(config.tokenFile === undefined ? {} : { token_file: config.tokenFile }),
    })
  } catch (error) {
    // Nobody could find it to stop it.
    await http.close(0)
    await core.close()
    throw dataFailure(error, join(config.dataDir, lockFiles.holder))
  }
  log.info({ url: `${http.url}/mcp`, data_dir: config.dataDir }, 'Causeway is ready')
  for (const { app, port } of http.aliases)
    log.info({ app, url: http.url.replace(/:\d+$/, `:${port}`) }, 'an app has a port of its own')
  process.on(
    'SIGHUP',
    () => void core.refresh().catch((err: unknown) => log.error({ err }, 'refresh failed')),
  )
  watchNpx(() => process.kill(process.pid, 'SIGTERM'))
  onStop(async (why) => {
    log.info({ why }, 'stopping')
    await http.close(config.shutdownMs)
    await core.close()
    log.info({}, 'stopped')
    await files?.close()
    folder.release()
    // All is closed, so nothing is lost.
    if ((await lines?.close()) === false) process.kill(process.pid, 'SIGKILL')
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
