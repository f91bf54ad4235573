import { formatCount, getFeatureId, uniteBounds } from '@causeway/plot'
import type { CausewayError, JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'
import type { PlotDocument } from '../document/plot-document.ts'
import { getMetadataKind, setTime, setViewport } from '../document/plot-state.ts'
import type { Command, Notice } from './command.ts'
import { Draft } from './draft.ts'
import { requireValidFeatures } from './feature-problems.ts'

export interface CommandResult {
  readonly command: string
  readonly kind: 'feature-update' | 'state-update' | 'display' | 'composite'
  readonly message: string
  readonly featuresAffected?: number
  readonly commandsProcessed?: number
}

interface ApplyOptions {
  readonly ignoreMissing?: boolean
  /** Prefix for generated ids, unique in the plot. */
  readonly idPrefix: string
}

export interface AppliedCommands {
  readonly document: PlotDocument
  readonly results: readonly CommandResult[]
  readonly notices: readonly Notice[]
  readonly addedIds: readonly string[]
}

const maxListedIds = 20

/** Applies all commands, or none. Throws `INVALID_FEATURES`, `DUPLICATE_ID` and `FEATURE_NOT_FOUND`. */
export function applyCommands(
  before: PlotDocument,
  commands: readonly Command[],
  options: ApplyOptions,
): AppliedCommands {
  const draft = new Draft(before)
  const notices: Notice[] = []
  const addedIds: string[] = []
  const results = commands.map((command) => apply(command, { draft, options, notices, addedIds }))
  return { document: draft.toDocument(), results, notices, addedIds }
}

interface Application {
  readonly draft: Draft
  readonly options: ApplyOptions
  readonly notices: Notice[]
  readonly addedIds: string[]
}

function apply(command: Command, application: Application): CommandResult {
  const { draft } = application
  switch (command.command) {
    case 'addFeatures':
      return createFeatureResult(command.command, add(command.features, application), 'added')
    case 'updateFeatures':
      return createFeatureResult(command.command, update(command.features, application), 'updated')
    case 'deleteFeatures':
      return createFeatureResult(command.command, remove(command.ids, application), 'deleted')
    case 'setFeatureCollection':
      return createFeatureResult(command.command, replaceAll(command, application), 'set')
    case 'setSelection':
      return select(command.ids, application)
    case 'setTimeState':
      draft.setState('time', (old) =>
        setTime(old, command.time, () => uniteBounds(draft.items().map(({ summary }) => summary.bounds))),
      )
      return createStateResult(command.command, `time is ${command.time.current}`)
    case 'setViewport':
      draft.setState('viewport', (old) => setViewport(old, command.viewport))
      return createStateResult(command.command, 'viewport updated')
    case 'composite': {
      const parts = command.children.map((child) => apply(child, application))
      return {
        command: 'composite',
        kind: 'composite',
        commandsProcessed: parts.length,
        featuresAffected: parts.reduce((sum, { featuresAffected = 0 }) => sum + featuresAffected, 0),
        message: parts.map(({ message }) => message).join('; '),
      }
    }
    default:
      application.notices.push(command.notice)
      return { command: command.command, kind: 'display', message: toMessage(command.notice) }
  }
}

function add(features: readonly unknown[], { draft, options, addedIds }: Application): number {
  requireValidFeatures(features, { idRequired: false })
  const shown = extractStates(features, draft)
  const taken = shown.flatMap((feature) => getFeatureId(feature) ?? []).filter((id) => draft.count(id) > 0)
  if (taken.length > 0)
    throw new DebriefError('DUPLICATE_ID', `the plot already has a feature with this id: ${taken[0]}`, {
      data: { ids: taken.slice(0, maxListedIds), total: taken.length },
    })
  for (const feature of shown) {
    const id = getFeatureId(feature) ?? `${options.idPrefix}-${addedIds.length + 1}`
    addedIds.push(id)
    draft.append(getFeatureId(feature) === null ? addId(feature, id) : feature)
  }
  return shown.length
}

function addId({ type, id: _, ...rest }: JsonObject, id: string): JsonObject {
  return { type, id, ...rest }
}

function update(features: readonly unknown[], { draft, options }: Application): number {
  requireValidFeatures(features, { idRequired: true })
  const shown = extractStates(features, draft)
  const known = findKnown(
    shown.map((feature) => getFeatureId(feature) ?? ''),
    draft,
    options,
  )
  const repeated = [...known].find((id) => draft.count(id) > 1)
  if (repeated !== undefined)
    throw new DebriefError('DUPLICATE_ID', `several features of the plot have this id: ${repeated}`, {
      remedy: 'call set_features with unique ids, or delete the id and add one feature',
      data: { ids: [repeated] },
    })
  const wanted = shown.filter((feature) => known.has(getFeatureId(feature) ?? ''))
  for (const feature of wanted) draft.replace(feature)
  return wanted.length
}

function remove(ids: readonly string[], { draft, options }: Application): number {
  const known = findKnown(ids, draft, options)
  let removed = 0
  for (const id of known) {
    removed += draft.count(id)
    draft.remove(id)
  }
  return removed
}

function replaceAll(
  { features, members }: Extract<Command, { command: 'setFeatureCollection' }>,
  { draft }: Application,
): number {
  requireValidFeatures(features, { idRequired: true })
  const shown = extractStates(features, draft)
  draft.replaceAll(shown, members)
  return shown.length
}

function select(ids: readonly string[], { draft, options }: Application): CommandResult {
  const known = findKnown(ids, draft, options)
  draft.select([...known])
  return createStateResult('setSelection', `selected ${formatCount(known.size, 'feature')}`)
}

/** Moves metadata features to the state. Returns the other features. */
function extractStates(features: readonly JsonObject[], draft: Draft): readonly JsonObject[] {
  return features.filter((feature) => {
    const kind = getMetadataKind(feature)
    if (kind !== null && kind !== 'selection') draft.setState(kind, () => feature)
    return kind === null
  })
}

function findKnown(ids: readonly string[], draft: Draft, { ignoreMissing }: ApplyOptions): Set<string> {
  const unknown = ids.filter((id) => draft.count(id) === 0)
  if (unknown.length > 0 && ignoreMissing !== true) throw createNotFoundError(unknown)
  return new Set(ids.filter((id) => draft.count(id) > 0))
}

const createNotFoundError = (ids: readonly string[]): CausewayError =>
  new DebriefError('FEATURE_NOT_FOUND', `the plot has no feature with this id: ${ids[0]}`, {
    data: { ids: ids.slice(0, maxListedIds), total: ids.length },
  })

const createFeatureResult = (command: string, featuresAffected: number, verb: string): CommandResult => ({
  command,
  kind: 'feature-update',
  featuresAffected,
  message: `${verb} ${formatCount(featuresAffected, 'feature')}`,
})

const createStateResult = (command: string, message: string): CommandResult => ({
  command,
  kind: 'state-update',
  message,
})

function toMessage(notice: Notice): string {
  if (notice.kind === 'text') return notice.text
  if (notice.kind === 'log') return notice.message
  if (notice.kind === 'image') return notice.title ?? 'image shown'
  const { summary, title } = notice.data
  return typeof summary === 'string' ? summary : typeof title === 'string' ? title : 'data shown'
}
