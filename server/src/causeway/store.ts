import type { Audit } from '../audit/audit.ts'
import type { Backups } from '../backup/backups.ts'
import type { ErrorCatalog } from '../host/error-catalog.ts'
import type { AppFailure } from '../host/user-apps.ts'
import type { HealthReport } from '../monitoring/health.ts'
import type { Registry } from '../registry/registry.ts'

/** The parts of the server that its own tools use. */
export interface ServerParts {
  readonly audit: Audit
  readonly backups: Backups
  readonly errors: ErrorCatalog
  readonly registry: Registry
  readonly failures: readonly AppFailure[]
  health(): Promise<HealthReport>
}

/** `core` is a function because the app opens before the server is complete. */
export interface CausewayStore {
  readonly core: () => ServerParts
}
