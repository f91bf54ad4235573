export { GatewayError } from '../errors.ts'
export { ConfigFile } from './config-file.ts'
export { ConfigWatcher, type ConfigWatcherOptions, type WatchedConfig } from './config-watcher.ts'
export { type Share, selectDefaultShare, shares } from './domain/default-share.ts'
export type { Endpoint, HttpEndpoint, StdioEndpoint } from './domain/endpoint.ts'
export { listSecretNames, type Variables } from './domain/expand.ts'
export {
  describeEndpoint,
  isSecretName,
  isSecretValue,
  redactArgs,
  redactedText,
  redactUrl,
} from './domain/redact.ts'
export {
  type HostedServer,
  type OAuthOptions,
  type PinMode,
  parseServer,
  serverNamePattern,
} from './domain/server-schema.ts'
export { findEndpointWarnings } from './domain/unpinned.ts'
export { JsonEditError, readJsonValue, removeJsonValue, setJsonValue } from './edit-json.ts'
export {
  configFileName,
  type GatewayConfig,
  parseGatewayConfig,
  readGatewayConfig,
  type ServerProblem,
} from './gateway-config.ts'
export { readPrivateFile } from './private-file.ts'
export { type RenderedEndpoint, renderEndpoint, renderOAuth } from './render.ts'
export { renderRemote } from './render-remote.ts'
export { SecretsFile, secretsFileName } from './secrets-file.ts'
