/** A tool: declared once, from which its schemas, checks, documentation and routes come. */
import {
  bareAliasPattern,
  type CallToolResult,
  CausewayError,
  type JsonSchema,
  type ToolAnnotations,
  wireNamePattern,
} from '@causeway/protocol'
import { z } from 'zod'
import { type Answer, type Plain, result, unpack } from './answer.ts'
import { readArguments, renamed } from './arguments.ts'
import { type Ask, isAsk } from './ask.ts'
import type { ToolContext } from './context.ts'
import { finite } from './finite.ts'
import { inputSchema, outputSchema, type Shape } from './schema.ts'

/** What a call may do, so that clients can decide whether to ask their user. */
export interface Hints {
  /** It changes nothing that outlives the client's session. */
  readonly readOnly?: boolean
  /** It may delete or overwrite. */
  readonly destructive?: boolean
  /** Calling it twice is the same as calling it once. */
  readonly idempotent?: boolean
  /** It reaches beyond this machine. */
  readonly openWorld?: boolean
}

/** Other names of a tool. */
export interface Aliases {
  /** Listed instead of the name on the app's own mount: `trm.start`. The first one is listed. */
  readonly bare?: readonly string[]
  /** Callable on the shared mount, never listed: `MonadicHelpOpenAI__find_help_topics`. */
  readonly full?: readonly string[]
  /** Other names of arguments, taken but never listed: `repo_path -> repo`, `halt.max_steps -> halt.max`. */
  readonly args?: Readonly<Record<string, string>>
}

/** A call that works on the example data; it is shown in the documentation and run by the tests. */
export interface Example {
  readonly args: Readonly<Record<string, unknown>>
  /** Calls to make first, in order, in the same session. */
  readonly before?: readonly { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }[]
}

/** The declaration of a tool. */
export interface ToolDeclaration<Input extends Shape, Output extends Shape, Store, Session> {
  /** One or two sentences for the model that will choose it: what it answers, in which unit. */
  readonly about: string
  /** Arguments; each one described. */
  readonly input: Input
  /** Members of the answer. Transforms are refused; members that are not named here may be there too. */
  readonly output: Output
  readonly hints?: Hints
  readonly aliases?: Aliases
  /** The class of calls that it is limited with, `update`, where the app's tools are not all of one. */
  readonly limit?: string
  /**
   * It may take its time: a client that knows tasks gets a handle where the answer is not there at once. `required`
   * refuses clients of the stateless revision that do not know them.
   */
  readonly task?: 'optional' | 'required'
  readonly example: Example
  /** Does the work. Throw a `CausewayError` to fail; return plain data, `withContent(data, pictures)`, or `ask(questions)`. */
  run(
    args: z.output<z.ZodObject<Input>>,
    ctx: ToolContext<Store, Session>,
  ): ToolReturn<Output> | Promise<ToolReturn<Output>>
}

/** What `run` returns. */
export type ToolReturn<Output extends Shape> =
  | Plain<z.input<z.ZodObject<Output>>>
  | Answer<Plain<z.input<z.ZodObject<Output>>>>
  | Ask

/** A tool as the host knows it, its types erased. */
export interface AppTool {
  readonly name: string
  readonly about: string
  readonly annotations: ToolAnnotations
  readonly limit?: string
  readonly task?: 'optional' | 'required'
  readonly aliases: Required<Aliases>
  readonly example: Example
  readonly inputSchema: JsonSchema
  /** Absent for a tool that answers with content alone. */
  readonly outputSchema?: JsonSchema
  /**
   * Checks the arguments, runs, checks the answer, if it is not questions. Rejects with `INVALID_ARGUMENTS`, with what the tool threw, or with
   * `INTERNAL` where the answer does not fit its own schema.
   */
  call(args: unknown, ctx: ToolContext): Promise<CallToolResult | Ask>
  /** True for data that the output schema allows; absent where there is none. */
  fits?(data: unknown): boolean
}

/** Makes a tool of its declaration; throws `INVALID_APP` for one that some client could not use. */
export function makeTool<Input extends Shape, Output extends Shape, Store, Session>(
  name: string,
  declaration: ToolDeclaration<Input, Output, Store, Session>,
): AppTool {
  const { about, example, hints = {}, aliases = {}, limit, task } = declaration
  const { bare = [], full = [], args: otherNames = {} } = aliases
  if (about.trim() === '') throw new CausewayError('INVALID_APP', `tool without a description: ${name}`)
  for (const alias of bare)
    if (!bareAliasPattern.test(alias)) throw new CausewayError('INVALID_APP', `not a bare alias: ${alias}`)
  for (const alias of full)
    if (!wireNamePattern.test(alias)) throw new CausewayError('INVALID_APP', `not a full alias: ${alias}`)
  const input = z.strictObject(declaration.input)
  const output = z.object(declaration.output)
  return {
    name,
    about,
    annotations: annotationsOf(hints),
    ...(limit === undefined ? {} : { limit }),
    ...(task === undefined ? {} : { task }),
    aliases: { bare, full, args: otherNames },
    example,
    inputSchema: inputSchema(name, declaration.input),
    outputSchema: outputSchema(name, declaration.output),
    async call(args, ctx) {
      const parsed = readArguments(name, input, renamed(name, args, otherNames))
      const returned = await declaration.run(parsed, ctx as ToolContext<Store, Session>)
      if (isAsk(returned)) return returned
      const { data, content } = unpack(returned)
      return result(checked(name, output, finite(data)), content)
    },
    fits: (data) => output.safeParse(data).success,
  }
}

/** MCP gives the destructive and the idempotent hint no meaning for a tool that only reads: every byte costs a model. */
function annotationsOf(hints: Hints): ToolAnnotations {
  const { readOnly = false, destructive = true, idempotent = false, openWorld = false } = hints
  if (readOnly) return { readOnlyHint: true, openWorldHint: openWorld }
  return {
    readOnlyHint: false,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  }
}

function checked(name: string, schema: z.ZodObject, data: unknown): Readonly<Record<string, unknown>> {
  const parsed = schema.safeParse(data)
  if (parsed.success) return data as Record<string, unknown>
  // An answer that breaks its own schema makes SDK clients throw: it is our defect, so it is told as one.
  throw new CausewayError('INTERNAL', `${name} gave an answer that does not fit its schema`, {
    cause: parsed.error,
  })
}
