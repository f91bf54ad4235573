export { type Answer, type Plain, withContent } from './answer.ts'
export { type Problem, problemsOf, readArguments } from './arguments.ts'
export {
  type Ask,
  accepted,
  ask,
  elicit,
  elicitUrl,
  type Input,
  isAsk,
  listRoots,
  type Reply,
  replyTo,
  sample,
} from './ask.ts'
export type { Cache } from './cache.ts'
export { closest, editDistance } from './closest.ts'
export type { CallContext, Changes, ChannelContext, Env, Facts, Log, Roots, ToolContext } from './context.ts'
export type { DataPart } from './data-part.ts'
export { type App, type AppIdentity, defineApp, type Registrar } from './define-app.ts'
export { finite } from './finite.ts'
export { numberSetting } from './number-setting.ts'
export { type AppPrompt, makePrompt, type PromptDeclaration, type PromptShape } from './prompt.ts'
export { type AppResource, makeResource, type ResourceBody, type ResourceDeclaration } from './resource.ts'
export { makeRoots } from './roots.ts'
export type { AppRoute, RouteBody, RouteDeclaration, RouteMethod } from './route.ts'
export { inputSchema, outputSchema, type Shape } from './schema.ts'
export type { AppSocket, Socket, SocketDeclaration } from './socket.ts'
export {
  type Aliases,
  type AppTool,
  type Example,
  type Hints,
  makeTool,
  type ToolDeclaration,
  type ToolReturn,
} from './tool.ts'
export { type UriTemplate, uriTemplate, type Variables } from './uri-template.ts'
