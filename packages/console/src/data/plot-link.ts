import { signal } from '@preact/signals'
import { applyEvent, type EventData, getId, type PlotFeature, type PlotState } from '../domain/plot.ts'
import { followNamedEvents, type StreamEvent } from './event-stream.ts'
import { createId, retryUnavailable, type Server, type ServerError, toServerError } from './server.ts'

/** A message for all viewers of the plot, or a change by another client. */
export interface PlotNotice {
  readonly id: string
  readonly client: string
  readonly text: string
  /** A picture as a data URL. */
  readonly picture?: string
  readonly canUndo: boolean
}

export interface EditConflict {
  readonly mine: PlotFeature
  readonly theirs: PlotFeature
}

interface ChangeResult {
  readonly rev?: number
  readonly undo?: number
  readonly redo?: number
}

/** New values by property name. `undefined` removes a property. */
export type PropertyChanges = Readonly<Record<string, unknown>>

const maxNotices = 20

/** Maximum time that an edit waits for the events of earlier changes, in ms. */
const maxEventWaitMs = 2000

/** An open plot on the server, with live updates. */
export class PlotConnection {
  readonly filename: string
  readonly state = signal<PlotState | undefined>(undefined)
  /** Newest first. */
  readonly notices = signal<readonly PlotNotice[]>([])
  readonly conflict = signal<EditConflict | undefined>(undefined)
  readonly error = signal<ServerError | undefined>(undefined)
  /** Number of changes that can be undone and redone. Unknown until the first change. */
  readonly depths = signal<{ readonly undo: number; readonly redo: number } | undefined>(undefined)
  readonly #server: Server
  readonly #ownRequestIds = new Set<string>()
  /** The revision after this page's last change, whose event may not have arrived yet. */
  #lastOwnRev = 0
  #lastChange: Promise<unknown> = Promise.resolve()
  #connectionController = new AbortController()

  constructor(server: Server, filename: string) {
    this.#server = server
    this.filename = filename
  }

  async connect(): Promise<void> {
    this.#connectionController.abort()
    this.#connectionController = new AbortController()
    const { signal } = this.#connectionController
    try {
      const { filename } = this
      await retryUnavailable(
        () => this.#server.call('debrief', 'open_plot', { filename }, { signal }),
        signal,
      )
      await followNamedEvents(this.#server, `${this.#path}/events`, {
        signal,
        onEvent: (event) => this.#applyEvent(event, signal),
      })
    } catch (error) {
      if (!signal.aborted) this.#report(error)
    }
  }

  disconnect(): void {
    this.#connectionController.abort()
  }

  /** Shows the selection immediately, so that the next edit changes these features. */
  select(ids: readonly string[]): Promise<unknown> {
    const { state } = this
    if (state.value !== undefined) state.value = { ...state.value, selected: ids }
    return this.#change('set_selection', { selectedIds: ids })
  }

  setTime(current: string): Promise<unknown> {
    const time = this.state.value?.time
    return this.#change('set_time', { timeState: { ...time, current } })
  }

  setViewport(bounds: readonly number[]): Promise<unknown> {
    return this.#change('set_viewport', { viewportState: { bounds } })
  }

  undo(): Promise<unknown> {
    return this.#change('undo', {})
  }

  redo(): Promise<unknown> {
    return this.#change('redo', {})
  }

  delete(ids: readonly string[]): Promise<unknown> {
    return this.#change('delete_features', { ids, if_rev: this.state.value?.rev })
  }

  /** `options` resolve a conflict with another program. */
  save(options: { readonly on_conflict?: string; readonly new_filename?: string } = {}): Promise<unknown> {
    return this.#change('save_plot', options)
  }

  /** Shows both versions if another client has changed the feature in the meantime. */
  async edit(feature: PlotFeature, changes: PropertyChanges): Promise<void> {
    const properties = Object.fromEntries(
      Object.entries({ ...feature.properties, ...changes }).filter(([, value]) => value !== undefined),
    )
    const mine: PlotFeature = { ...feature, properties }
    await this.#receiveOwnChanges()
    const { rev, features = [] } = this.state.value ?? {}
    const shownFeature = features.find((candidate) => getId(candidate) === getId(feature))
    if (shownFeature !== undefined && !isSameFeature(shownFeature, feature)) {
      this.conflict.value = { mine, theirs: shownFeature }
      return
    }
    const error = await this.#tryUpdate(mine, rev)
    if (error?.code !== 'REV_MISMATCH') return this.#setError(error)
    try {
      const current = (await this.#loadFeatures()).find((candidate) => getId(candidate) === getId(feature))
      if (current === undefined) this.#setError(error)
      else if (!isSameFeature(current, feature)) this.conflict.value = { mine, theirs: current }
      else this.#setError(await this.#tryUpdate(mine, (error.data as { current_rev: number }).current_rev))
    } catch (failure) {
      this.#report(failure)
    }
  }

  resolve(choice: 'mine' | 'theirs'): void {
    const { conflict } = this
    if (choice === 'mine' && conflict.value !== undefined)
      void this.#tryUpdate(conflict.value.mine, undefined).then((error) => this.#setError(error))
    conflict.value = undefined
  }

  get #path(): string {
    return `/api/apps/debrief/plots/${encodeURIComponent(this.filename)}`
  }

  async #loadFeatures(options?: { readonly signal: AbortSignal }): Promise<readonly PlotFeature[]> {
    const path = `${this.#path}/features`
    return (await this.#server.get<{ features: readonly PlotFeature[] }>(path, options)).features
  }

  async #tryUpdate(feature: PlotFeature, rev: number | undefined): Promise<ServerError | undefined> {
    try {
      await this.#call('update_features', { features: [feature], if_rev: rev })
      return undefined
    } catch (error) {
      return toServerError(error)
    }
  }

  #setError(error: ServerError | undefined): void {
    this.error.value = error
  }

  async #change(tool: string, args: object): Promise<void> {
    try {
      await this.#call(tool, args)
      this.error.value = undefined
    } catch (error) {
      this.#report(error)
    }
  }

  async #call(tool: string, args: object): Promise<void> {
    const requestId = createId()
    this.#ownRequestIds.add(requestId)
    const result = this.#server.call<ChangeResult>(
      'debrief',
      tool,
      { filename: this.filename, ...args },
      { requestId },
    )
    this.#lastChange = result.catch(() => undefined)
    const { undo, redo, rev = 0 } = await result
    this.#lastOwnRev = Math.max(this.#lastOwnRev, rev)
    if (undo !== undefined && redo !== undefined) this.depths.value = { undo, redo }
  }

  /** Waits for the events of this page's changes, with which an edit must not conflict. */
  async #receiveOwnChanges(): Promise<void> {
    await this.#lastChange
    const isReceived = (): boolean => (this.state.value?.rev ?? 0) >= this.#lastOwnRev
    if (isReceived()) return
    await new Promise<void>((resolve) => {
      const stop = this.state.subscribe(() => isReceived() && finish())
      const timer = setTimeout(finish, maxEventWaitMs)
      function finish(): void {
        clearTimeout(timer)
        stop()
        resolve()
      }
    })
  }

  #report(error: unknown): void {
    this.error.value = toServerError(error)
  }

  async #applyEvent({ id, event, data }: StreamEvent, signal: AbortSignal): Promise<void> {
    const fields = data as EventData
    const state = applyEvent(this.state.value, event, fields)
    if (state === undefined) {
      void this.connect()
      return
    }
    // A large plot's snapshot does not contain features.
    const features = fields.features === null ? await this.#loadFeatures({ signal }) : state.features
    this.state.value = { ...state, features }
    this.#recordNotice(id, event, fields)
  }

  #recordNotice(id: string, event: string, { origin, ...data }: EventData): void {
    const { client = '', request = '' } = (origin ?? {}) as { client?: string; request?: string }
    if (event === 'notice') this.#addNotice({ id, client, canUndo: false, ...readNotice(data.notice) })
    if (event !== 'patch' || this.#ownRequestIds.has(request)) return
    this.depths.value = undefined
    this.#addNotice({ id, client, canUndo: true, text: describePatch(data) })
  }

  #addNotice(notice: PlotNotice): void {
    this.notices.value = [notice, ...this.notices.value].slice(0, maxNotices)
  }
}

/** Whether two versions of a feature are equal, regardless of the order of members. */
const isSameFeature = (a: PlotFeature, b: PlotFeature): boolean =>
  JSON.stringify([a.geometry, a.properties]) === JSON.stringify([b.geometry, b.properties])

function readNotice(notice: unknown): Pick<PlotNotice, 'text' | 'picture'> {
  const { kind, text, message, title, data, mediaType } = notice as Readonly<Record<string, unknown>>
  if (kind === 'image')
    return { text: String(title ?? 'Picture'), picture: `data:${mediaType};base64,${data}` }
  return { text: String(text ?? message ?? JSON.stringify(data)) }
}

/** Describes a change: `updated 2, removed 1 feature`. */
function describePatch(data: Readonly<Record<string, unknown>>): string {
  const parts = (['added', 'updated', 'removed'] as const).flatMap((name) => {
    const { length } = data[name] as unknown[]
    return length === 0 ? [] : [`${name} ${length}`]
  })
  return `${parts.join(', ')} ${parts.join('').endsWith(' 1') ? 'feature' : 'features'}`
}
