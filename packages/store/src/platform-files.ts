import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

export const canRenameOpenFolder = (platform: NodeJS.Platform = process.platform): boolean =>
  platform !== 'win32'

const canSyncFolder = (platform: NodeJS.Platform): boolean => platform !== 'win32'

export async function syncFolder(
  folder: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (!canSyncFolder(platform)) return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

export function syncFolderSync(folder: string, platform: NodeJS.Platform = process.platform): void {
  if (!canSyncFolder(platform)) return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
