import type { JsonObject } from '@causeway/protocol'
import type { Catalogue, ListedPrompt, ListedTool } from './catalogue.ts'
import { removeDuplicates } from './names.ts'

export type PinKind = 'tool' | 'prompt' | 'instructions'

/** The pin of the instructions has an empty name. */
export interface Pin {
  readonly kind: PinKind
  readonly name: string
  /** Pinned members as JSON with sorted keys. */
  readonly text: string
}

export interface CatalogueChange {
  readonly kind: PinKind
  readonly name: string
  /** Absent for a new tool or prompt. */
  readonly approved?: JsonObject
  readonly current: JsonObject
}

const toolMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']
const promptMembers = ['name', 'title', 'description', 'arguments']

export function createPins({ tools, prompts, instructions }: Catalogue): readonly Pin[] {
  const pin = (kind: PinKind, name: string, definition: JsonObject): Pin => ({
    kind,
    name,
    text: toSortedJson(definition),
  })
  return [
    ...removeDuplicates(tools).map((tool) => pin('tool', tool.name, selectMembers(tool, toolMembers))),
    ...removeDuplicates(prompts).map((prompt) =>
      pin('prompt', prompt.name, selectMembers(prompt, promptMembers)),
    ),
    pin('instructions', '', { instructions }),
  ]
}

export function findChanges(catalogue: Catalogue, pins: readonly Pin[]): readonly CatalogueChange[] {
  const approved = new Map(pins.map((pin) => [toPinKey(pin), pin.text]))
  return createPins(catalogue).flatMap((pin) => {
    const approvedText = approved.get(toPinKey(pin))
    if (approvedText === pin.text) return []
    return [
      {
        kind: pin.kind,
        name: pin.name,
        ...(approvedText === undefined ? {} : { approved: JSON.parse(approvedText) as JsonObject }),
        current: JSON.parse(pin.text) as JsonObject,
      },
    ]
  })
}

export interface Reviewed<T> {
  /** The approved definition if the current one is not approved. */
  readonly entry: T
  /** Whether calls fail with `TOOL_CHANGED`. */
  readonly isBlocked: boolean
  /** Whether it was never approved, so that its texts must not be listed. */
  readonly isNew: boolean
}

export interface ReviewedCatalogue {
  readonly tools: readonly Reviewed<ListedTool>[]
  readonly prompts: readonly Reviewed<ListedPrompt>[]
  readonly instructions: string
}

export function reviewCatalogue(
  { tools, prompts, instructions }: Catalogue,
  changes: readonly CatalogueChange[],
): ReviewedCatalogue {
  const changeByKey = new Map(changes.map((change) => [toPinKey(change), change]))
  const review = <T extends { readonly name: string }>(kind: PinKind, entry: T): Reviewed<T> => {
    const change = changeByKey.get(toPinKey({ kind, name: entry.name }))
    if (change === undefined) return { entry, isBlocked: false, isNew: false }
    const { approved } = change
    const text = approved === undefined ? entry : ({ ...approved } as unknown as T)
    return { entry: text, isBlocked: true, isNew: approved === undefined }
  }
  const instructionsChange = changeByKey.get(toPinKey({ kind: 'instructions', name: '' }))
  return {
    tools: tools.map((tool) => review('tool', tool)),
    prompts: prompts.map((prompt) => review('prompt', prompt)),
    instructions:
      instructionsChange === undefined
        ? instructions
        : String(instructionsChange.approved?.instructions ?? ''),
  }
}

export const toPinKey = ({ kind, name }: Pick<Pin, 'kind' | 'name'>): string => `${kind}:${name}`

const selectMembers = (definition: JsonObject, members: readonly string[]): JsonObject =>
  Object.fromEntries(
    members.filter((member) => member in definition).map((member) => [member, definition[member]]),
  )

const toSortedJson = (value: unknown): string => JSON.stringify(sortKeys(value))

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sortKeys(member)]),
  )
}
