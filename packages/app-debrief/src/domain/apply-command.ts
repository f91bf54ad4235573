/** Commands applied to a document: all of them or none. */
import { CausewayError, type JsonObject } from '@causeway/protocol'
import { unionOf } from './bounds.ts'
import type { Command, Notice } from './command.ts'
import { type Draft, draftOf } from './draft.ts'
import { idOf } from './feature.ts'
import { checkFeatures } from './feature-problems.ts'
import type { PlotDocument } from './plot-document.ts'
import { metadataKind, withTime, withViewport } from './plot-state.ts'

/** What became of one command. */
export interface CommandResult {
  readonly command: string
  readonly kind: 'feature-update' | 'state-update' | 'display' | 'composite'
  readonly message: string
  readonly featuresAffected?: number
  readonly commandsProcessed?: number
}

/** How commands are applied. */
export interface ApplyOptions {
  /** unknown ids of update and delete are passed over */
  readonly ignoreMissing?: boolean
  /** begins the ids of features that are added without one; unlike any id of the plot */
  readonly idPrefix: string
}

/** The document after the commands, and what they had to say. */
export interface Applied {
  readonly document: PlotDocument
  readonly results: readonly CommandResult[]
  readonly notices: readonly Notice[]
  /** ids of the features that were added, in order */
  readonly addedIds: readonly string[]
}

/** Ids and names that an error lists. */
const mostNamed = 20

/**
 * Applies commands in order. Throws `INVALID_FEATURES`, `DUPLICATE_ID`, `FEATURE_NOT_FOUND`; the document that was
 * given is never changed.
 */
export function applyCommands(
  before: PlotDocument,
  commands: readonly Command[],
  options: ApplyOptions,
): Applied {
  const draft = draftOf(before)
  const notices: Notice[] = []
  const addedIds: string[] = []
  const results = commands.map((command) => apply(command, { draft, options, notices, addedIds }))
  return { document: draft.document(), results, notices, addedIds }
}

interface Work {
  readonly draft: Draft
  readonly options: ApplyOptions
  readonly notices: Notice[]
  readonly addedIds: string[]
}

function apply(command: Command, work: Work): CommandResult {
  const { draft } = work
  switch (command.command) {
    case 'addFeatures':
      return updated(command.command, add(command.features, work), 'added')
    case 'updateFeatures':
      return updated(command.command, update(command.features, work), 'updated')
    case 'deleteFeatures':
      return updated(command.command, remove(command.ids, work), 'deleted')
    case 'setFeatureCollection':
      return updated(command.command, replaceAll(command, work), 'set')
    case 'setSelection':
      return select(command.ids, work)
    case 'setTimeState':
      draft.setState('time', (old) =>
        withTime(old, command.time, () => unionOf(draft.items().map(({ looks }) => looks.bounds))),
      )
      return stateUpdated(command.command, `time is ${command.time.current}`)
    case 'setViewport':
      draft.setState('viewport', (old) => withViewport(old, command.viewport))
      return stateUpdated(command.command, 'viewport updated')
    case 'composite': {
      const parts = command.children.map((child) => apply(child, work))
      return {
        command: 'composite',
        kind: 'composite',
        commandsProcessed: parts.length,
        featuresAffected: parts.reduce((sum, { featuresAffected = 0 }) => sum + featuresAffected, 0),
        message: parts.map(({ message }) => message).join('; '),
      }
    }
    default:
      work.notices.push(command.notice)
      return { command: command.command, kind: 'display', message: messageOf(command.notice) }
  }
}

function add(features: readonly unknown[], { draft, options, addedIds }: Work): number {
  checkFeatures(features, { idRequired: false })
  const shown = takeStates(features, draft)
  const taken = shown.flatMap((feature) => idOf(feature) ?? []).filter((id) => draft.count(id) > 0)
  if (taken.length > 0)
    throw new CausewayError('DUPLICATE_ID', `the plot already has a feature with this id: ${taken[0]}`, {
      data: { ids: taken.slice(0, mostNamed), total: taken.length },
    })
  for (const feature of shown) {
    const id = idOf(feature) ?? `${options.idPrefix}-${addedIds.length + 1}`
    addedIds.push(id)
    draft.append(idOf(feature) === null ? withId(feature, id) : feature)
  }
  return shown.length
}

/** The id stands first, where people look for it. */
function withId({ type, id: _, ...rest }: JsonObject, id: string): JsonObject {
  return { type, id, ...rest }
}

function update(features: readonly unknown[], { draft, options }: Work): number {
  checkFeatures(features, { idRequired: true })
  const shown = takeStates(features, draft)
  const known = present(
    shown.map((feature) => idOf(feature) ?? ''),
    draft,
    options,
  )
  const repeated = [...known].find((id) => draft.count(id) > 1)
  if (repeated !== undefined)
    throw new CausewayError('DUPLICATE_ID', `several features of the plot have this id: ${repeated}`, {
      remedy: 'give each feature an id of its own with set_features, or delete the id and add one feature',
      data: { ids: [repeated] },
    })
  const wanted = shown.filter((feature) => known.has(idOf(feature) ?? ''))
  for (const feature of wanted) draft.replace(feature)
  return wanted.length
}

function remove(ids: readonly string[], { draft, options }: Work): number {
  const known = present(ids, draft, options)
  let removed = 0
  for (const id of known) {
    removed += draft.count(id)
    draft.remove(id)
  }
  return removed
}

function replaceAll(
  { features, members }: Extract<Command, { command: 'setFeatureCollection' }>,
  { draft }: Work,
): number {
  checkFeatures(features, { idRequired: true })
  const shown = takeStates(features, draft)
  draft.replaceAll(shown, members)
  return shown.length
}

function select(ids: readonly string[], { draft, options }: Work): CommandResult {
  const known = present(ids, draft, options)
  draft.select([...known])
  return stateUpdated('setSelection', `selected ${plural(known.size)}`)
}

/** Time and view that come as metadata features become state; the other features are given back. */
function takeStates(features: readonly JsonObject[], draft: Draft): readonly JsonObject[] {
  return features.filter((feature) => {
    const kind = metadataKind(feature)
    if (kind !== null && kind !== 'selection') draft.setState(kind, () => feature)
    return kind === null
  })
}

function present(ids: readonly string[], draft: Draft, { ignoreMissing }: ApplyOptions): Set<string> {
  const unknown = ids.filter((id) => draft.count(id) === 0)
  if (unknown.length > 0 && ignoreMissing !== true) throw missing(unknown)
  return new Set(ids.filter((id) => draft.count(id) > 0))
}

const missing = (ids: readonly string[]): CausewayError =>
  new CausewayError('FEATURE_NOT_FOUND', `the plot has no feature with this id: ${ids[0]}`, {
    data: { ids: ids.slice(0, mostNamed), total: ids.length },
  })

const updated = (command: string, featuresAffected: number, verb: string): CommandResult => ({
  command,
  kind: 'feature-update',
  featuresAffected,
  message: `${verb} ${plural(featuresAffected)}`,
})

const stateUpdated = (command: string, message: string): CommandResult => ({
  command,
  kind: 'state-update',
  message,
})

const plural = (count: number): string => `${count} feature${count === 1 ? '' : 's'}`

/** What is shown, as text: a showText returns its own. */
function messageOf(notice: Notice): string {
  if (notice.kind === 'text') return notice.text
  if (notice.kind === 'log') return notice.message
  if (notice.kind === 'image') return notice.title ?? 'image shown'
  const { summary, title } = notice.data
  return typeof summary === 'string' ? summary : typeof title === 'string' ? title : 'data shown'
}
