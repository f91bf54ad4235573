/** Every setting of the server: its environment variable, its default and its meaning. Nothing else reads the environment. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { debriefSettings } from './settings/debrief.ts'
import { helpSettings } from './settings/help.ts'
import { limitSettings } from './settings/limits.ts'
import { mindsSettings } from './settings/minds.ts'
import { replaySettings } from './settings/replay.ts'
import { alias, flag, list, type Setting, setting, webOrigin, whole } from './settings/setting.ts'
import { trmSettings } from './settings/trm.ts'

/** Where data lives when nothing is set: the platform's folder for user data. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'causeway')
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'causeway')
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'causeway')
}

/** key in `causeway.config.json` -> setting. A flag is the key in kebab-case: `--data-dir`. */
export const settings = Object.freeze({
  enabled: setting({
    env: 'MCP_SERVER_ENABLED',
    schema: flag(true),
    meaning: 'false: print one line and exit with 0',
  }),
  port: setting({
    env: 'MCP_SERVER_PORT',
    schema: whole(3100, { max: 65535 }),
    meaning: 'port; 0 lets the system choose',
  }),
  host: setting({
    env: 'CAUSEWAY_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    meaning: 'address to listen on; anything but this machine itself wants CAUSEWAY_TOKEN_FILE',
  }),
  tokenFile: setting({
    env: 'CAUSEWAY_TOKEN_FILE',
    schema: z.string().min(1).optional(),
    defaultText: 'none: every program of this machine may call',
    meaning:
      'file of bearer tokens, readable by its user alone; a line is `<token> [name] [app:read,write,execute …]`, and a change counts at once',
  }),
  extraLogging: setting({
    env: 'EXTRA_LOGGING',
    schema: flag(false),
    meaning: 'log protocol detail, each line marked [MCP]; secrets are left out',
  }),
  toolsTtlMs: setting({
    env: 'MCP_TOOLS_TTL_MS',
    schema: whole(300_000),
    meaning: 'the tool lists are discovered again after this many milliseconds',
  }),
  dataDir: setting({
    env: 'CAUSEWAY_DATA_DIR',
    schema: z.string().min(1).optional(),
    defaultText: "the platform's folder for user data, `~/.local/share/causeway`",
    meaning: 'folder of every data file; `npm start` in a checkout uses `./.causeway`',
  }),
  backupDir: setting({
    env: 'CAUSEWAY_BACKUP_DIR',
    schema: z.string().min(1).optional(),
    defaultText: '`backups` in the data folder',
    meaning: 'folder in which the tool make_backup makes backups; on another disk they outlive this one',
  }),
  apps: setting({
    env: 'CAUSEWAY_APPS',
    schema: list(),
    defaultText: 'all',
    meaning: 'names of the apps to serve, divided like PATH',
  }),
  userApps: setting({
    env: 'CAUSEWAY_USER_APPS',
    schema: list(),
    defaultText: 'none',
    meaning: 'further apps: paths of modules or names of packages, divided like PATH',
  }),
  roots: setting({
    env: 'CAUSEWAY_ROOTS',
    schema: list(),
    defaultText: 'the folder that the server was started in',
    meaning: 'folders below which every app may read files, divided like PATH',
  }),
  ...replaySettings,
  ...helpSettings,
  ...mindsSettings,
  ...debriefSettings,
  ...trmSettings,
  ...limitSettings,
  pageSize: setting({
    env: 'CAUSEWAY_PAGE_SIZE',
    schema: whole(200, { min: 1 }),
    meaning: 'entries on one page of a list',
  }),
  listen: setting({
    env: 'CAUSEWAY_LISTEN',
    schema: list(',').pipe(z.array(alias)),
    defaultText: 'none',
    meaning: 'further ports that serve one app at the root, `minds:3000,debrief:60123`',
  }),
  allowedHosts: setting({
    env: 'CAUSEWAY_ALLOWED_HOSTS',
    schema: list(','),
    defaultText: 'none',
    meaning:
      'host names, without ports, that callers may use beside those of this machine, divided by commas',
  }),
  allowedOrigins: setting({
    env: 'CAUSEWAY_ALLOWED_ORIGINS',
    schema: list(',').pipe(z.array(webOrigin)),
    defaultText: "none: only the server's own pages",
    meaning:
      'exact origins of web pages that may call without a token, such as `http://localhost:6274`, separated by commas',
  }),
  bodyLimitBytes: setting({
    env: 'CAUSEWAY_BODY_LIMIT_BYTES',
    schema: whole(16 * 2 ** 20, { min: 1024 }),
    meaning: 'largest request body that is accepted',
  }),
  receiveTimeoutMs: setting({
    env: 'CAUSEWAY_RECEIVE_TIMEOUT_MS',
    schema: whole(30_000, { max: 2 ** 31 - 1 }).refine((ms) => ms === 0 || ms >= 1000, '0, or at least 1000'),
    meaning:
      'a request gets 408 if its headers take longer than this many milliseconds, or if no part of its body arrives for as long; at least 1000, or 0 for no limit',
  }),
  shutdownMs: setting({
    env: 'CAUSEWAY_SHUTDOWN_MS',
    schema: whole(5000),
    meaning: 'calls under way get this many milliseconds when the server is told to stop',
  }),
} satisfies Record<string, Setting>)

/** The key of a setting. */
export type SettingKey = keyof typeof settings

type Values = { readonly [Key in SettingKey]: z.output<(typeof settings)[Key]['schema']> }

/** Every setting, read and checked; `roots` and `dataDir` are filled in. */
export type Config = Omit<Values, 'dataDir'> & { readonly dataDir: string }

/** The flag of a setting: `dataDir -> data-dir`. */
export const flagOf = (key: SettingKey): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** One row of `docs/settings.md`. */
export interface SettingRow {
  readonly key: SettingKey
  readonly env: string
  readonly flag: string
  readonly default: string
  readonly meaning: string
}

/** Every setting as a table, in the order in which they are declared. */
export function settingTable(): readonly SettingRow[] {
  return (Object.entries(settings) as [SettingKey, Setting][]).map(
    ([key, { env, schema, meaning, defaultText }]) => ({
      key,
      env,
      flag: `--${flagOf(key)}`,
      default: defaultText ?? String(schema.parse(undefined)),
      meaning,
    }),
  )
}
