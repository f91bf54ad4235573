import {
  bareAliasPattern,
  type CallToolResult,
  CausewayError,
  type JsonSchema,
  type Tool,
  type ToolAnnotations,
  wireNamePattern,
} from '@causeway/protocol'
import { z } from 'zod'
import { readArguments, renameArguments } from './arguments.ts'
import { type Ask, isAsk } from './ask.ts'
import type { ToolContext } from './context.ts'
import { type Answer, type Plain, replaceNonFinite, toAnswer, toResult } from './result.ts'
import { inputSchema, outputSchema, type Shape } from './schema.ts'

interface Hints {
  /** Whether the tool changes nothing except the client's session. Default: false. */
  readonly readOnly?: boolean
  /** Whether the tool may delete or overwrite data. Default: true. */
  readonly destructive?: boolean
  /** Whether a repeated call has no further effect. Default: false. */
  readonly idempotent?: boolean
  /** Whether the tool accesses other machines. Default: false. */
  readonly openWorld?: boolean
}

export interface Aliases {
  /** Names on the app's own mount: `trm.start`. The first is listed instead of the tool's name. */
  readonly bare?: readonly string[]
  /** Unlisted names on the shared mount. */
  readonly full?: readonly string[]
  /** Declared names by unlisted argument name: `repo_path: 'repo'`, `'halt.max_steps': 'halt.max'`. */
  readonly args?: Readonly<Record<string, string>>
}

export interface Example {
  readonly args: Readonly<Record<string, unknown>>
  /** Calls that the example needs first, in the same session. */
  readonly before?: readonly { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }[]
}

export const widgetNames = ['series', 'scene', 'map', 'decision'] as const

export type WidgetName = (typeof widgetNames)[number]

export interface ToolDeclaration<Input extends Shape, Output extends Shape, Store, Session> {
  readonly title?: string
  /** For models: what the tool does and returns, in which unit, and when to use it. */
  readonly about: string
  /** Search words that the name and the description do not contain. */
  readonly searchHint?: string
  /** Each argument needs a description. */
  readonly input: Input
  /** Members of the data, without transforms. Additional members are allowed. Default: no schema is listed. */
  readonly output?: Output
  readonly hints?: Hints
  readonly aliases?: Aliases
  /** Whether the tool is callable but not listed, such as a merged tool's former name. */
  readonly unlisted?: boolean
  /** Whether `/mcp/core` lists the tool, even if it is `unlisted`. */
  readonly isCore?: boolean
  /** Whether clients that load tools on demand load this one at the start. */
  readonly alwaysLoad?: boolean
  /** Rate limit class. Default: the app's class. */
  readonly limit?: string
  /** View in clients that support MCP Apps. Adds about 55 bytes to the listing. */
  readonly widget?: WidgetName
  /**
   * Clients with task support get a handle if the result is not ready. `required` rejects stateless clients
   * without task support.
   */
  readonly task?: 'optional' | 'required'
  readonly example: Example
  /** Fails by throwing an error of `defineErrors` or a `CausewayError`. */
  run(
    args: z.output<z.ZodObject<Input>>,
    ctx: ToolContext<Store, Session>,
  ): ToolReturn<Output> | Promise<ToolReturn<Output>>
}

type ToolReturn<Output extends Shape> =
  | Plain<z.input<z.ZodObject<Output>>>
  | Answer<Plain<z.input<z.ZodObject<Output>>>>
  | Ask

type CommonMembers =
  | 'title'
  | 'about'
  | 'searchHint'
  | 'unlisted'
  | 'isCore'
  | 'alwaysLoad'
  | 'limit'
  | 'widget'
  | 'task'
  | 'example'

export interface ForwardedCall {
  readonly name: string
  readonly args: unknown
  readonly mustBeReadOnly: boolean
}

export interface AppTool extends Pick<ToolDeclaration<Shape, Shape, unknown, unknown>, CommonMembers> {
  readonly name: string
  /** Name on the shared mount. Default: `<app>__<name>`. */
  readonly fullName?: string
  /** Replaces the generated listing. */
  readonly listed?: Tool
  readonly annotations: ToolAnnotations
  readonly aliases: Required<Aliases>
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** Throws `INVALID_ARGUMENTS`, the tool's errors, and `INTERNAL` for data that does not match the output schema. */
  call(args: unknown, ctx: ToolContext): Promise<CallToolResult | Ask>
  /** Returns the call to run instead. Throws `INVALID_ARGUMENTS`. */
  forward?(args: unknown): ForwardedCall
  /** Whether data matches the output schema. */
  acceptsOutput?(data: unknown): boolean
  /** @deprecated Use `acceptsOutput`. */
  fits?(data: unknown): boolean
}

export function makeTool<Input extends Shape, Output extends Shape, Store, Session>(
  name: string,
  declaration: ToolDeclaration<Input, Output, Store, Session>,
): AppTool {
  const { input: inputShape, output: outputShape, hints = {}, aliases = {}, run: _, ...listed } = declaration
  const { bare = [], full = [], args: argumentAliases = {} } = aliases
  if (listed.about.trim() === '')
    throw new CausewayError('INVALID_APP', `tool without a description: ${name}`)
  for (const alias of bare)
    if (!bareAliasPattern.test(alias)) throw new CausewayError('INVALID_APP', `not a bare alias: ${alias}`)
  for (const alias of full)
    if (!wireNamePattern.test(alias)) throw new CausewayError('INVALID_APP', `not a full alias: ${alias}`)
  const input = z.strictObject(inputShape)
  const output = outputShape === undefined ? z.looseObject({}) : z.object(outputShape)
  return {
    ...listed,
    name,
    annotations: toAnnotations(hints),
    aliases: { bare, full, args: argumentAliases },
    inputSchema: inputSchema(name, inputShape),
    ...(outputShape && { outputSchema: outputSchema(name, outputShape) }),
    async call(args, ctx) {
      const parsed = readArguments(name, input, renameArguments(name, args, argumentAliases))
      const returned = await declaration.run(parsed, ctx as ToolContext<Store, Session>)
      if (isAsk(returned)) return returned
      const answer = toAnswer(returned)
      const data = answer.json === undefined ? replaceNonFinite(answer.data) : answer.data
      return toResult(validateData(name, output, data), answer)
    },
    acceptsOutput: (data) => outputShape === undefined || output.safeParse(data).success,
  }
}

/** MCP ignores `destructiveHint` and `idempotentHint` of read-only tools. */
function toAnnotations(hints: Hints): ToolAnnotations {
  const { readOnly = false, destructive = true, idempotent = false, openWorld = false } = hints
  if (readOnly) return { readOnlyHint: true, openWorldHint: openWorld }
  return {
    readOnlyHint: false,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  }
}

/** Throws `INTERNAL` for data that does not match the schema, because SDK clients would throw. */
function validateData(name: string, schema: z.ZodObject, data: unknown): Readonly<Record<string, unknown>> {
  const parsed = schema.safeParse(data)
  if (parsed.success) return data as Record<string, unknown>
  throw new CausewayError('INTERNAL', `${name} gave an answer that does not fit its schema`, {
    cause: parsed.error,
  })
}
