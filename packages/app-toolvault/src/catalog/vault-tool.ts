import type { Shape } from '@causeway/app-kit'
import type { DebriefCommand, Injection } from '@causeway/plot'
import type { z } from 'zod'

export const categories = {
  'feature-management': 'Delete and recolour features',
  import: 'Read other formats',
  export: 'Write other formats',
  selection: 'Selection, viewport and time',
  text: 'Text',
  'track-analysis': 'Analyse and change tracks',
  viewport: 'Add features to the viewport',
} as const

export type Category = keyof typeof categories

export interface Sample {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly expectedOutput: DebriefCommand
}

export type NewId = (prefix: string) => string

export interface RunProgress {
  readonly done: number
  readonly total: number
}

/** A run that can be cancelled between steps. */
export type Run = Generator<RunProgress, DebriefCommand>

/** Receives lines without their line endings. */
export interface LineReader {
  readLine(line: string): void
  finish(): DebriefCommand
}

interface ToolBase<Input extends Shape> {
  readonly name: string
  readonly category: Category
  readonly title: string
  /** Description for models. The index uses its first sentence. */
  readonly about: string
  readonly searchHint: string
  /** Arguments that can be injected are optional. */
  readonly input: Input
  readonly inject: Readonly<Record<string, Injection>>
}

interface AnalysisTool<Input extends Shape> extends ToolBase<Input> {
  /** Must be a pure function. */
  run(args: z.output<z.ZodObject<Input>>, newId: NewId): DebriefCommand | Run
}

interface ImportTool<Input extends Shape> extends ToolBase<Input> {
  /** Creates a reader for the file at `path` below a root, or for the argument `text`. */
  read(args: z.output<z.ZodObject<Input>>, newId: NewId): LineReader
}

export type ToolArgs = Readonly<Record<string, unknown>>

export type VaultTool = ToolBase<Shape> &
  (
    | { readonly run: (args: ToolArgs, newId: NewId) => DebriefCommand | Run }
    | { readonly read: (args: ToolArgs, newId: NewId) => LineReader }
  )

export const defineTool = <Input extends Shape>(tool: AnalysisTool<Input>): VaultTool =>
  tool as unknown as VaultTool

export const defineImport = <Input extends Shape>(tool: ImportTool<Input>): VaultTool =>
  tool as unknown as VaultTool
