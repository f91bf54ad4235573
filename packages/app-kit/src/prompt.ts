import { CausewayError, type Prompt, type PromptMessage } from '@causeway/protocol'
import { z } from 'zod'
import { readArguments } from './arguments.ts'
import type { Ask } from './ask.ts'
import type { ToolContext } from './context.ts'
import type { Variables } from './uri-template.ts'

export type PromptShape = Readonly<Record<string, z.ZodString | z.ZodOptional<z.ZodString>>>

export interface PromptDeclaration<Input extends PromptShape, Store, Session> {
  readonly about: string
  readonly input: Input
  /** Suggests values of an argument for the typed text. */
  readonly complete?: Readonly<
    Record<string, (typed: string, ctx: ToolContext<Store, Session>) => Promise<readonly string[]>>
  >
  messages(
    args: z.output<z.ZodObject<Input>>,
    ctx: ToolContext<Store, Session>,
  ): readonly PromptMessage[] | Ask | Promise<readonly PromptMessage[] | Ask>
}

export interface Completion {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore?: boolean
}

export interface PromptResult {
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}

export interface AppPrompt {
  readonly name: string
  /** Name on the shared mount. Default: `<app>__<name>`. */
  readonly fullName?: string
  /** Replaces the generated listing. */
  readonly listed?: Prompt
  readonly about: string
  readonly arguments: NonNullable<Prompt['arguments']>
  complete(argument: string, typed: string, ctx: ToolContext): Promise<readonly string[]>
  messages(args: unknown, ctx: ToolContext): Promise<readonly PromptMessage[] | Ask>
  /** Replaces `messages` if the result also has other members. */
  get?(args: unknown, ctx: ToolContext): Promise<PromptResult | Ask>
  /** Replaces `complete`. The server does not filter these values. */
  completeTyped?(argument: string, typed: string, chosen: Variables, ctx: ToolContext): Promise<Completion>
}

export function makePrompt<Input extends PromptShape, Store, Session>(
  name: string,
  declaration: PromptDeclaration<Input, Store, Session>,
): AppPrompt {
  const schema = z.strictObject(declaration.input)
  return {
    name,
    about: declaration.about,
    arguments: Object.entries(declaration.input).map(([argument, type]) => {
      if (type.description === undefined)
        throw new CausewayError('INVALID_APP', `argument without a description: ${name}.${argument}`)
      return { name: argument, description: type.description, required: !type.safeParse(undefined).success }
    }),
    complete: async (argument, typed, ctx) =>
      (await declaration.complete?.[argument]?.(typed, ctx as ToolContext<Store, Session>)) ?? [],
    messages: async (args, ctx) =>
      declaration.messages(
        readArguments(name, schema, args, 'INVALID_PARAMS') as z.output<z.ZodObject<Input>>,
        ctx as ToolContext<Store, Session>,
      ),
  }
}
