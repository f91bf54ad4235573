import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

export interface Machine {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
  readonly home: string
}

export const getMachine = (env: NodeJS.ProcessEnv = process.env): Machine => ({
  platform: process.platform,
  env,
  home: homedir(),
})

export function findDataFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'causeway')
  if (platform === 'win32') return win32.join(findLocalAppData({ env, home }), 'causeway')
  return posix.join(env.XDG_DATA_HOME ?? posix.join(home, '.local', 'share'), 'causeway')
}

/** Returns the folder for locks and logs of servers that a bridge started. */
export function findStateFolder({ platform, env, home }: Machine): string {
  if (platform === 'win32') return win32.join(findLocalAppData({ env, home }), 'causeway')
  return posix.join(env.XDG_STATE_HOME || posix.join(home, '.local', 'state'), 'causeway')
}

/** Returns the folder for bridge data that can be fetched again. */
export function findCacheFolder({ platform, env, home }: Machine): string {
  if (platform === 'win32')
    return win32.join(env.XDG_CACHE_HOME || findLocalAppData({ env, home }), 'causeway')
  const defaultFolders = platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']
  return posix.join(env.XDG_CACHE_HOME || posix.join(home, ...defaultFolders), 'causeway')
}

export function findConfigFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA ?? win32.join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || posix.join(home, '.config')
}

const findLocalAppData = ({ env, home }: Omit<Machine, 'platform'>): string =>
  env.LOCALAPPDATA ?? win32.join(home, 'AppData', 'Local')

/** Whether other users can read a file. On Windows, modes have no meaning. */
export const isReadableByOthers = (mode: number, platform: NodeJS.Platform = process.platform): boolean =>
  platform !== 'win32' && (mode & 0o077) !== 0

/** Returns the command that opens a URL or file. No shell interprets `target`. */
export function getOpenerCommand(
  target: string,
  platform: NodeJS.Platform = process.platform,
): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', target]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', target]
  return ['xdg-open', target]
}

/**
 * Returns the signals that stop a program. On Windows, Ctrl-Break sends SIGBREAK. Closing the window sends
 * SIGHUP, and Windows ends the process ten seconds later.
 */
export const listStopSignals = (platform: NodeJS.Platform = process.platform): readonly NodeJS.Signals[] =>
  platform === 'win32' ? ['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGTERM', 'SIGINT']

/** Whether process groups exist and signals can be handled. On Windows, every signal kills. */
export const canSignal = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32'

/**
 * Returns the path of a local socket or, on Windows, of a named pipe (`\\.\pipe\name` or `\\?\pipe\name`, also with
 * forward slashes); `undefined` for other paths.
 */
export function toSocketPath(path: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (platform !== 'win32') return path.startsWith('/') ? path : undefined
  const pipeName = path.replaceAll('/', '\\')
  return /^\\\\[.?]\\pipe\\.+/.test(pipeName) ? pipeName : undefined
}
