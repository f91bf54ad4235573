export type {
  Catalogue,
  ListedPrompt,
  ListedResource,
  ListedTool,
  ResourceTemplate,
  ServerDescription,
} from './domain/catalogue.ts'
export { findCatalogueWarnings } from './domain/catalogue-warnings.ts'
export { escapeHiddenCharacters } from './domain/hidden-characters.ts'
export { matchesPattern } from './domain/names.ts'
export type { CatalogueChange } from './domain/pins.ts'
export { GatewayError } from './errors.ts'
export { type AppChanges, Gateway, type GatewayOptions } from './gateway.ts'
export type { OutputLines } from './instances/output-log.ts'
export type { HostedServerStatus, InstanceStatus, ServerState } from './instances/server-status.ts'
export { type ProbeOptions, probeServer } from './probe.ts'
export { forgetPins, gatewayMigrations } from './store.ts'
export { type RpcError, readRpcError } from './upstream/upstream-error.ts'
