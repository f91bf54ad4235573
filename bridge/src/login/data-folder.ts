import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Returns the data folder of a server with the same environment, so that both share their logins. */
export function findDataFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const { CAUSEWAY_DATA_DIR: folder, LOCALAPPDATA, XDG_DATA_HOME } = env
  if (folder !== undefined && folder !== '') return resolve(folder)
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'causeway')
  if (platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'causeway')
  return join(XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'causeway')
}
