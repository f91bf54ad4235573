import { basename, dirname, join, sep } from 'node:path'

/** Returns the folder of all workspaces in a data folder. */
export const workspacesFolder = (dir: string): string => join(dir, 'trm', 'desks')

/** Returns the workspace of a session. */
export const workspaceFolder = (dir: string, sid: string): string => join(workspacesFolder(dir), sid)

/** Returns the session of a workspace in any data folder; `undefined` for another folder. */
export const findWorkspaceId = (path: string): string | undefined =>
  dirname(path).endsWith(`${sep}${join('trm', 'desks')}`) ? basename(path) : undefined
