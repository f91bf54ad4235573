/** A tool of the vault: declared once, in a folder of its own, from which its listing, its checks and its index entry come. */
import type { Shape } from '@causeway/app-kit'
import { z } from 'zod'
import type { DebriefCommand } from './domain/command.ts'

/** Folders that tools lie in. */
export const categories = {
  'feature-management': 'Tools that change features',
  import: 'Readers of other formats',
  selection: 'Tools about what is selected and seen',
  text: 'Tools about text',
  'track-analysis': 'Figures and changes of tracks',
  viewport: 'Tools that fill the viewport',
} as const

/** A folder. */
export type Category = keyof typeof categories

/**
 * Where an argument comes from when the caller gives none and a plot is at hand: the selected features of these kinds; the
 * selected features as a collection, or else all; the first selected track, or else the first track; the box or the time of
 * the plot. What a caller gives is never replaced.
 */
export type Injection =
  | {
      readonly from: 'selection'
      /** `properties.dataType` of the features that fit; `any` for all */
      readonly kinds: readonly string[]
      readonly min: number
      readonly max: number | null
    }
  | { readonly from: 'collection' | 'track' | 'viewport' | 'time' }

/** Arguments that work, with the command that they give. */
export interface Sample {
  /** kebab-case, the name of its file in the index */
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly expectedOutput: DebriefCommand
}

/** What a run may use beside its arguments. */
export interface RunAid {
  /** A new id for a feature, beginning with these letters. */
  newId(prefix: string): string
}

/** How far a long run is. */
export interface RunProgress {
  readonly done: number
  readonly total: number
}

/** A run that may pause: it is cancelled and reports between its steps. */
export type Run = Generator<RunProgress, DebriefCommand>

/** Takes the text of a file, line by line, and answers at its end. */
export interface TextReader {
  /** One line, without its end. */
  take(line: string): void
  finish(): DebriefCommand
}

/** What every declaration says. */
export interface ToolAbout<Input extends Shape> {
  readonly name: string
  readonly category: Category
  /** First sentence first: it is the description in the index. */
  readonly about: string
  /** Arguments; the injected ones are optional. */
  readonly input: Input
  readonly inject: Readonly<Record<string, Injection>>
  readonly samples: readonly [Sample, ...Sample[]]
}

/** A tool that works on its arguments alone. */
export interface VaultTool<Input extends Shape> extends ToolAbout<Input> {
  /** Pure; throws a `CausewayError` to fail. */
  run(args: z.output<z.ZodObject<Input>>, aid: RunAid): DebriefCommand | Run
}

/** A tool that reads a text: that of the file `path`, below a root, or the argument `text`. */
export interface ImportTool<Input extends Shape> extends ToolAbout<Input> {
  /** Pure; what it throws fails the import. */
  read(args: z.output<z.ZodObject<Input>>, aid: RunAid): TextReader
}

/** Checked arguments of a tool whose types are erased. */
export type ToolArgs = Readonly<Record<string, unknown>>

/** A tool as the vault keeps it, its types erased. */
export type AnyVaultTool = ToolAbout<Shape> &
  (
    | { readonly run: (args: ToolArgs, aid: RunAid) => DebriefCommand | Run }
    | { readonly read: (args: ToolArgs, aid: RunAid) => TextReader }
  )

/** Keeps the types of a declaration together, then erases them. */
export const vaultTool = <Input extends Shape>(tool: VaultTool<Input>): AnyVaultTool =>
  tool as unknown as AnyVaultTool // its own schema has parsed what `run` gets

/** The same for an importer; `path` and `text` are added to its arguments. */
export const importTool = <Input extends Shape>(tool: ImportTool<Input>): AnyVaultTool =>
  ({ ...tool, input: { ...sourceArguments, ...tool.input } }) as unknown as AnyVaultTool

const sourceArguments = {
  path: z.string().min(1).optional().describe('file below a root (CAUSEWAY_PLOT_ROOTS)'),
  text: z.string().optional().describe('its content, instead of path'),
}

/** Argument of importers that thins a log out. */
export const minInterval = () =>
  z.number().positive().optional().describe('s; fixes nearer than that to the one before are left out')
