export {
  asCausewayError,
  CausewayError,
  declareError,
  defineErrors,
  type ErrorClass,
  type ErrorData,
  fromPlainError,
  isCausewayError,
  type PlainError,
  reviseError,
  shorten,
  toFileLimitError,
  toPlainError,
  type WireErrorCode,
} from './causeway-error.ts'
export { closest, editDistance } from './closest.ts'
export * from './error-object.ts'
export {
  checkJson,
  findStringEnd,
  type JsonLimits,
  jsonLimits,
  type OuterMember,
  parseJson,
} from './json-limits.ts'
export * from './jsonrpc.ts'
export * from './mcp.ts'
export {
  appNamePattern,
  bareAliasPattern,
  decodePercent,
  pathName,
  reservedPaths,
  wireName,
  wireNamePattern,
} from './names.ts'
export { nodeHttp } from './node-http.ts'
export * from './platform.ts'
export { createFolder, writePrivateFile } from './private-file.ts'
export type { ErrorDeclaration, ErrorDefinition } from './wire-errors.ts'
