import { isObject } from '@causeway/protocol'
import type { Catalogue } from './catalogue.ts'
import { findHiddenCharacters } from './hidden-characters.ts'

const maxWarnings = 20

interface ModelText {
  readonly location: string
  readonly definition: unknown
}

type Definitions = Pick<Catalogue, 'tools' | 'prompts' | 'instructions'>

/** `app` is the name of the server's own app, if known. */
export function findCatalogueWarnings(definitions: Definitions, app?: string): readonly string[] {
  const { tools, prompts, instructions } = definitions
  const texts: readonly ModelText[] = [
    { location: 'the instructions', definition: instructions },
    ...tools.map((definition) => ({ location: `the tool ${definition.name}`, definition })),
    ...prompts.map((definition) => ({ location: `the prompt ${definition.name}`, definition })),
  ]
  const warnings = texts.flatMap((text) => [
    ...findHiddenCharacterWarnings(text),
    ...findForeignToolWarnings(text, app),
  ])
  if (warnings.length <= maxWarnings) return warnings
  return [...warnings.slice(0, maxWarnings), `${warnings.length - maxWarnings} more warnings`]
}

function findHiddenCharacterWarnings({ location, definition }: ModelText): readonly string[] {
  const hiddenCharacters = findHiddenCharacters(collectText(definition).join('\n'))
  return hiddenCharacters.length === 0
    ? []
    : [`hidden characters in ${location}: ${hiddenCharacters.join(', ')}`]
}

function findForeignToolWarnings(
  { location, definition }: ModelText,
  app: string | undefined,
): readonly string[] {
  const toolMentions = collectText(definition)
    .join('\n')
    .matchAll(/\b([A-Z][A-Za-z0-9]*)__[A-Za-z0-9_-]+/g)
  const foreignTools = new Set([...toolMentions].flatMap(([tool, owner]) => (owner === app ? [] : tool)))
  return foreignTools.size === 0
    ? []
    : [`tools of other apps are named in ${location}: ${[...foreignTools].join(', ')}`]
}

/** Excludes `_meta` and `icons`, which models do not receive. */
function collectText(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(collectText)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === '_meta' || key === 'icons' ? [] : [key, ...collectText(member)],
  )
}
