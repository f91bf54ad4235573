import type { CallActivity } from '../activity/call-activity.ts'
import type { CallCapture } from '../activity/call-capture.ts'
import type { OpenSessions } from '../activity/open-sessions.ts'
import type { Audit } from '../audit/audit.ts'
import type { Backups } from '../backup/backups.ts'
import type { ErrorCatalog } from '../host/error-catalog.ts'
import type { AppFailure } from '../host/user-apps.ts'
import type { LogTail } from '../log/log-tail.ts'
import type { HealthReport } from '../monitoring/health.ts'
import type { HealthHistory } from '../monitoring/health-history.ts'
import type { StoreSize } from '../monitoring/store-sizes.ts'
import type { Registry } from '../registry/registry.ts'
import type { ToolSearch } from '../registry/tool-search.ts'

export interface ServerParts {
  readonly activity: CallActivity
  readonly audit: Audit
  readonly backups: Backups
  readonly capture: CallCapture
  readonly errors: ErrorCatalog
  readonly history: HealthHistory
  readonly logTail: LogTail
  readonly openSessions: readonly OpenSessions[]
  readonly registry: Registry
  readonly failures: readonly AppFailure[]
  health(): Promise<HealthReport>
  measureStores(): Promise<readonly StoreSize[]>
}

export interface CausewayStore {
  /** A function, because the app opens before the server is complete. */
  readonly core: () => ServerParts
  readonly search: ToolSearch
}
