import { join } from 'node:path'
import { CausewayError, canSignal } from '@causeway/protocol'
import { type FolderLock, lockFiles, toDataError } from '@causeway/store'
import type { Logger } from 'pino'
import { TokenFile } from './access/token-file.ts'
import { apps } from './apps.ts'
import { takeDataFolder } from './backup/data-folder.ts'
import { type Config, settings } from './config/config.ts'
import { listExplicitSettings } from './config/effective-settings.ts'
import type { Invocation } from './config/read-config.ts'
import { Core } from './host/core.ts'
import { isLoopback } from './http/security/admission.ts'
import { HttpServer } from './http/server.ts'
import { LoadMonitor } from './limits/load-monitor.ts'
import { openLog, openPrettyStream } from './log/log.ts'
import { LogFiles } from './log/log-files.ts'
import { LogTail } from './log/log-tail.ts'
import { StderrWriter } from './log/stderr-writer.ts'
import { IdleCollector } from './memory/idle-collector.ts'
import { collectGarbage } from './memory/process-memory.ts'
import { recordServer } from './process/server-file.ts'
import { onShutdown, watchNpx } from './process/shutdown.ts'
import { toPortError, toRunningError } from './process/start-errors.ts'
import { version } from './process/version.ts'
import { formatWelcome, type StartedServer } from './process/welcome.ts'

/** Resolves when the server listens. The server runs until a signal stops it. */
export async function serve({
  config,
  explicitSettings,
}: Pick<Invocation, 'config' | 'explicitSettings'>): Promise<void> {
  if (!config.enabled) {
    process.stdout.write('Causeway is disabled by MCP_SERVER_ENABLED=false.\n')
    return
  }
  const folder = lockDataFolder(config.dataDir)
  const rotation = { bytes: config.logFileBytes, count: config.logFileCount }
  const files = config.logFiles ? new LogFiles(config.dataDir, rotation) : undefined
  const isPretty =
    config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stderr.isTTY === true)
  const lines = isPretty ? undefined : new StderrWriter()
  const logTail = new LogTail(config.dataDir)
  const log = openLog({
    extra: config.extraLogging,
    level: config.logLevel,
    destination: lines ?? (await openPrettyStream()),
    files,
    tail: logTail,
  })
  const tokens = openTokenFile(config, log)
  const core = await Core.open({ config, log, apps, logFiles: files, logTail })
  const load = new LoadMonitor({
    lagMs: config.shedLagMs,
    heapPercent: config.shedHeapPercent,
    log,
    onSample: ({ lagMs }) => core.history.recordDelay(lagMs),
  })
  const http = await HttpServer.open(core, {
    ...config,
    tokens,
    aliases: config.listen,
    inFlightLimits: { max: config.maxInflight, isOverloaded: () => load.isOverloaded },
  }).catch(async (error: unknown) => {
    await core.close()
    throw await toPortError(error, config.port)
  })
  try {
    recordServer(config.dataDir, {
      url: http.url,
      version,
      started_ms: Date.now(),
      shutdown_ms: config.shutdownMs,
      settings: listExplicitSettings({ config, explicitSettings }),
      ...(config.tokenFile === undefined ? {} : { token_file: config.tokenFile }),
    })
  } catch (error) {
    // `causeway stop` could not find the server without the file.
    await http.close(0)
    await core.close()
    throw toDataError(error, join(config.dataDir, lockFiles.holder))
  }
  // Scripts wait for the address, so every log level prints it. The pretty format prints it below.
  const printsAddress = lines === undefined || log.isLevelEnabled('info')
  logAddresses(printsAddress ? log : openLog({ extra: false, destination: lines }), http, config.dataDir)
  if (canSignal())
    process.on(
      'SIGHUP',
      () => void core.registry.refresh().catch((err: unknown) => log.error({ err }, 'refresh failed')),
    )
  watchNpx(() => process.kill(process.pid, 'SIGTERM'))
  const idleCollector = new IdleCollector({
    collectGarbage,
    onError: (err) => log.warn({ err }, 'the garbage collection failed'),
  })
  onShutdown(async (reason) => {
    idleCollector.close()
    log.info({ why: reason }, 'stopping')
    await http.close(config.shutdownMs)
    await core.close()
    log.info({}, 'stopped')
    await files?.close()
    folder.release()
    // All data is saved. A blocked stderr would also block a normal exit.
    if ((await lines?.close()) === false) process.kill(process.pid, 'SIGKILL')
  })
  if (isPretty) process.stderr.write(formatWelcome(describeStart(core, http.url), process.env))
}

function logAddresses(log: Logger, { url, aliases }: HttpServer, dataDir: string): void {
  log.info({ url: `${url}/mcp`, data_dir: dataDir }, 'Causeway is ready')
  for (const { app, port } of aliases)
    log.info({ app, url: url.replace(/:\d+$/, `:${port}`) }, 'an app has a port of its own')
}

function describeStart({ config, registry, failures }: Core, url: string): StartedServer {
  const apps = registry.apps.map(({ name, tools }) => ({
    name,
    tools: tools.filter(({ unlisted }) => unlisted !== true).length,
  }))
  const { recordingRoots, plotRoots, dataDir } = config
  return { url, apps, failures, recordingRoots, plotRoots, dataDir }
}

function lockDataFolder(dataDir: string): FolderLock {
  try {
    return takeDataFolder(dataDir, { version })
  } catch (error) {
    throw toRunningError(error, dataDir)
  }
}

/** Without tokens, throws `INVALID_SETTING` for an address other than loopback. */
function openTokenFile({ host, tokenFile }: Config, log: Logger): TokenFile | undefined {
  if (tokenFile !== undefined) return new TokenFile(tokenFile, { log })
  if (isLoopback(host)) return undefined
  throw new CausewayError('INVALID_SETTING', `other machines could connect to ${host} without a token`, {
    remedy: `name a file of tokens in ${settings.tokenFile.env}, or leave ${settings.host.env} out`,
  })
}
