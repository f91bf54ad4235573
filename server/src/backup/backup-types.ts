import type { Manifest } from './manifest.ts'

/** How a backup or a restore is watched and stopped. */
export interface BackupWatch {
  /** Bytes done and to do, and the file at hand, below the data folder. */
  readonly onProgress?: ((done: number, total: number, file: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** A backup in the folder. */
export interface NamedBackup {
  readonly name: string
  readonly folder: string
  readonly manifest: Manifest
}

/** The folder of backups. */
export interface Backups {
  /**
   * Makes a backup under this name, else under the time. The same request again within ten minutes gets the backup that it made.
   * Throws as `backup` does, and `OVERLOADED` while another one is made.
   */
  make(name: string | undefined, request: string, watch: BackupWatch): Promise<NamedBackup>
  /** What can be restored, newest first. */
  list(): Promise<readonly NamedBackup[]>
}
