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

interface CommandContext {
  readonly draft: Draft
  readonly options: ApplyOptions
  readonly notices: Notice[]
  readonly addedIds: string[]
}

function apply(command: Command, context: CommandContext): CommandResult {
  const { draft } = context
  switch (command.command) {
    case 'addFeatures':
      return createFeatureResult(command.command, add(command.features, context), 'added')
    case 'updateFeatures':
      return createFeatureResult(command.command, update(command.features, context), 'updated')
    case 'deleteFeatures':
      return createFeatureResult(command.command, remove(command.ids, context), 'deleted')
    case 'setFeatureCollection':
      return createFeatureResult(command.command, replaceAll(command, context), 'set')
    case 'setSelection':
      return select(command.ids, context)
    case 'setTimeState':
      draft.setState('time', (previousFeature) =>
        setTime(previousFeature, command.time, () =>
          uniteBounds(draft.items().map(({ summary }) => summary.bounds)),
        ),
      )
      return createStateResult(command.command, `time is ${command.time.current}`)
    case 'setViewport':
      draft.setState('viewport', (previousFeature) => setViewport(previousFeature, command.viewport))
      return createStateResult(command.command, 'viewport updated')
    case 'composite': {
      const childResults = command.children.map((child) => apply(child, context))
      return {
        command: 'composite',
        kind: 'composite',
        commandsProcessed: childResults.length,
        featuresAffected: childResults.reduce((sum, { featuresAffected = 0 }) => sum + featuresAffected, 0),
        message: childResults.map(({ message }) => message).join('; '),
      }
    }
    default:
      context.notices.push(command.notice)
      return { command: command.command, kind: 'display', message: toMessage(command.notice) }
  }
}

function add(features: readonly unknown[], { draft, options, addedIds }: CommandContext): number {
  requireValidFeatures(features, { idRequired: false })
  const nonMetadataFeatures = extractMetadata(features, draft)
  const existingIds = nonMetadataFeatures
    .flatMap((feature) => getFeatureId(feature) ?? [])
    .filter((id) => draft.count(id) > 0)
  if (existingIds.length > 0)
    throw new DebriefError('DUPLICATE_ID', `the plot already has a feature with this id: ${existingIds[0]}`, {
      data: { ids: existingIds.slice(0, maxListedIds), total: existingIds.length },
    })
  for (const feature of nonMetadataFeatures) {
    const id = getFeatureId(feature) ?? `${options.idPrefix}-${addedIds.length + 1}`
    addedIds.push(id)
    draft.append(getFeatureId(feature) === null ? addId(feature, id) : feature)
  }
  return nonMetadataFeatures.length
}

function addId({ type, id: _, ...rest }: JsonObject, id: string): JsonObject {
  return { type, id, ...rest }
}

function update(features: readonly unknown[], { draft, options }: CommandContext): number {
  requireValidFeatures(features, { idRequired: true })
  const nonMetadataFeatures = extractMetadata(features, draft)
  const knownIds = findKnownIds(
    nonMetadataFeatures.map((feature) => getFeatureId(feature) ?? ''),
    draft,
    options,
  )
  const duplicateId = [...knownIds].find((id) => draft.count(id) > 1)
  if (duplicateId !== undefined)
    throw new DebriefError('DUPLICATE_ID', `several features of the plot have this id: ${duplicateId}`, {
      remedy: 'call set_features with unique ids, or delete the id and add one feature',
      data: { ids: [duplicateId] },
    })
  const knownFeatures = nonMetadataFeatures.filter((feature) => knownIds.has(getFeatureId(feature) ?? ''))
  for (const feature of knownFeatures) draft.replace(feature)
  return knownFeatures.length
}

function remove(ids: readonly string[], { draft, options }: CommandContext): number {
  const knownIds = findKnownIds(ids, draft, options)
  let removedCount = 0
  for (const id of knownIds) {
    removedCount += draft.count(id)
    draft.remove(id)
  }
  return removedCount
}

function replaceAll(
  { features, members }: Extract<Command, { command: 'setFeatureCollection' }>,
  { draft }: CommandContext,
): number {
  requireValidFeatures(features, { idRequired: true })
  const nonMetadataFeatures = extractMetadata(features, draft)
  draft.replaceAll(nonMetadataFeatures, members)
  return nonMetadataFeatures.length
}

function select(ids: readonly string[], { draft, options }: CommandContext): CommandResult {
  const knownIds = findKnownIds(ids, draft, options)
  draft.select([...knownIds])
  return createStateResult('setSelection', `selected ${formatCount(knownIds.size, 'feature')}`)
}

/** Stores metadata features as state, except selections. Returns the other features. */
function extractMetadata(features: readonly JsonObject[], draft: Draft): readonly JsonObject[] {
  return features.filter((feature) => {
    const kind = getMetadataKind(feature)
    if (kind !== null && kind !== 'selection') draft.setState(kind, () => feature)
    return kind === null
  })
}

function findKnownIds(ids: readonly string[], draft: Draft, { ignoreMissing }: ApplyOptions): Set<string> {
  const unknownIds = ids.filter((id) => draft.count(id) === 0)
  if (unknownIds.length > 0 && ignoreMissing !== true) throw createNotFoundError(unknownIds)
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
