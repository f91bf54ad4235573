export {
  CausewayError,
  closest,
  defineErrors,
  type ErrorDeclaration,
  editDistance,
  isCausewayError,
} from '@causeway/protocol'
export { listProblems, type Problem, readArguments } from './arguments.ts'
export * from './ask.ts'
export * from './context.ts'
export * from './define-app.ts'
export * from './prompt.ts'
export * from './resource.ts'
export {
  type Answer,
  addMember,
  finite,
  fromJson,
  type Plain,
  replaceNonFinite,
  withContent,
} from './result.ts'
export * from './roots.ts'
export type * from './route.ts'
export { inputSchema, outputSchema, type Shape } from './schema.ts'
export * from './tool.ts'
export * from './uri-template.ts'
