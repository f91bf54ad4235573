import { basename, dirname, join, sep } from 'node:path'

export const getWorkspacesFolder = (dir: string): string => join(dir, 'trm', 'desks')

export const getWorkspaceFolder = (dir: string, sid: string): string => join(getWorkspacesFolder(dir), sid)

/** Returns the session id of a workspace in any data folder, or `undefined` for other folders. */
export const findWorkspaceId = (path: string): string | undefined =>
  dirname(path).endsWith(`${sep}${join('trm', 'desks')}`) ? basename(path) : undefined
