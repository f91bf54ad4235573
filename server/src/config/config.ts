import { z } from 'zod'
import { debriefSettings, helpSettings, mindsSettings, replaySettings, trmSettings } from './settings/apps.ts'
import { limitSettings } from './settings/limits.ts'
import {
  appPort,
  choice,
  defaultInteger,
  flag,
  list,
  type Setting,
  setting,
  text,
  webOrigin,
  webUrl,
} from './settings/setting.ts'

/** Settings by key in `causeway.config.json`. */
export const settings = Object.freeze({
  enabled: setting('MCP_SERVER_ENABLED', {
    schema: flag(true),
    meaning: 'if false, the server prints one line and exits with 0',
  }),
  port: setting('MCP_SERVER_PORT', {
    schema: defaultInteger(3100, { max: 65535 }),
    meaning: 'port to listen on; with 0 the system chooses one',
  }),
  host: setting('CAUSEWAY_HOST', {
    schema: text.default('127.0.0.1'),
    meaning: 'address to listen on; an address other than loopback requires CAUSEWAY_TOKEN_FILE',
  }),
  tokenFile: setting('CAUSEWAY_TOKEN_FILE', {
    schema: text.optional(),
    defaultText: 'none: every program on this machine may connect',
    meaning:
      'file of bearer tokens, one per line: `<token> [name] [app:read,write,execute …]`; only its owner may be able to read it; changes take effect immediately',
  }),
  logFormat: setting('CAUSEWAY_LOG_FORMAT', {
    schema: choice('auto', 'pretty', 'json').default('auto'),
    meaning:
      'format of the log on standard error: `pretty` is one readable line per entry, `json` one JSON object; `auto` is `pretty` on a terminal and `json` elsewhere; log files are always JSON',
  }),
  logLevel: setting('CAUSEWAY_LOG_LEVEL', {
    schema: choice('debug', 'info', 'warn', 'error').default('info'),
    meaning:
      'lowest level of the entries that are logged, on standard error and in log files; the address of the server is printed at every level',
  }),
  extraLogging: setting('EXTRA_LOGGING', {
    schema: flag(false),
    meaning: 'log protocol details in lines marked [MCP], without secrets; sets CAUSEWAY_LOG_LEVEL to debug',
  }),
  toolsTtlMs: setting('MCP_TOOLS_TTL_MS', {
    schema: defaultInteger(300_000),
    meaning: 'lifetime of the cached tool lists in milliseconds',
  }),
  dataDir: setting('CAUSEWAY_DATA_DIR', {
    schema: text.optional(),
    defaultText: "the platform's folder for user data, `~/.local/share/causeway`",
    meaning: 'folder of all data files; `npm start` in a checkout uses `./.causeway`',
  }),
  backupDir: setting('CAUSEWAY_BACKUP_DIR', {
    schema: text.optional(),
    defaultText: '`backups` in the data folder',
    meaning: 'folder for the backups of the tool make_backup; use another disk to survive a disk failure',
  }),
  apps: setting('CAUSEWAY_APPS', {
    schema: list(),
    defaultText: 'all',
    meaning: 'names of the apps to serve, separated like PATH',
  }),
  userApps: setting('CAUSEWAY_USER_APPS', {
    schema: list(),
    meaning: 'additional apps: module paths or package names, separated like PATH',
  }),
  roots: setting('CAUSEWAY_ROOTS', {
    schema: list(),
    defaultText: 'the working directory of the server',
    meaning: 'folders below which every app may read files, separated like PATH',
  }),
  ...replaySettings,
  ...helpSettings,
  ...mindsSettings,
  ...debriefSettings,
  ...trmSettings,
  ...limitSettings,
  pageSize: setting('CAUSEWAY_PAGE_SIZE', {
    schema: defaultInteger(200, { min: 1 }),
    meaning: 'entries per page of a list',
  }),
  listen: setting('CAUSEWAY_LISTEN', {
    schema: list(',').pipe(z.array(appPort)),
    meaning: 'additional ports that serve one app at the root: `minds:3000,debrief:60123`',
  }),
  publicUrl: setting('CAUSEWAY_PUBLIC_URL', {
    schema: webUrl.optional(),
    defaultText: 'the address of the request',
    meaning: 'URL of the server for `viewer_url` in results, if a proxy serves it under another address',
  }),
  allowedHosts: setting('CAUSEWAY_ALLOWED_HOSTS', {
    schema: list(','),
    meaning:
      'host names, without ports, that clients may use in addition to those of this machine, separated by commas',
  }),
  allowedOrigins: setting('CAUSEWAY_ALLOWED_ORIGINS', {
    schema: list(',').pipe(z.array(webOrigin)),
    defaultText: "none: only the server's own pages",
    meaning:
      'exact origins of web pages that may call like programs, such as `http://localhost:6274`, separated by commas',
  }),
  bodyLimitBytes: setting('CAUSEWAY_BODY_LIMIT_BYTES', {
    schema: defaultInteger(16 * 2 ** 20, { min: 1024 }),
    meaning: 'maximum size of a request body',
  }),
  receiveTimeoutMs: setting('CAUSEWAY_RECEIVE_TIMEOUT_MS', {
    schema: defaultInteger(30_000, { max: 2 ** 31 - 1 }).refine(
      (ms) => ms === 0 || ms >= 1000,
      '0, or at least 1000',
    ),
    meaning:
      'a request fails with 408 if its headers take longer than this many milliseconds, or if no part of its body arrives for this time; at least 1000, or 0 for no limit',
  }),
  shutdownMs: setting('CAUSEWAY_SHUTDOWN_MS', {
    schema: defaultInteger(5000),
    meaning: 'grace period for running calls when the server stops, in milliseconds',
  }),
} satisfies Record<string, Setting>)

export type SettingKey = keyof typeof settings

type Values = { readonly [Key in SettingKey]: z.output<(typeof settings)[Key]['schema']> }

/** Paths are absolute; defaults of `roots` and `dataDir` are filled in. */
export type Config = Omit<Values, 'dataDir'> & { readonly dataDir: string }

/** `dataDir` -> `data-dir` */
export const toFlag = (key: SettingKey): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Rows of `docs/settings.md`. */
export function listSettings() {
  return (Object.entries(settings) as [SettingKey, Setting][]).map(
    ([key, { env, schema, meaning, defaultText }]) => ({
      key,
      env,
      flag: `--${toFlag(key)}`,
      default: (defaultText ?? String(schema.parse(undefined) ?? '')) || 'none',
      meaning,
    }),
  )
}
