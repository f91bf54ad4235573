import type { Core } from '../core.ts'

/** The part of the server that its own tools use. */
export type OwnCore = Pick<Core, 'apps' | 'audit' | 'backups' | 'health' | 'refresh'>

/** The store of the server's own app: the server, which may not be complete yet when the app is opened. */
export interface Own {
  readonly core: () => OwnCore
}
