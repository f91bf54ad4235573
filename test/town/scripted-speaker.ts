/** Controls a scripted character: it finds listeners, invites them, speaks its lines and records the answers. */
import { execute, invite, speak } from './act.ts'
import { type Body, distance, type Utterance } from './body.ts'
import type { ScriptLine } from './script.ts'
import type { Town } from './town.ts'

/** Minutes until a listener that refused is invited again, and the maximum wait for an answer. */
const delays = { refused: 30, answer: 12 } as const

/** Maximum number of lines per conversation, because listeners end conversations after four utterances. */
const maxLines = 2

/** A line that was spoken, and its answer. */
export interface SpokenLine {
  readonly line: ScriptLine
  readonly at: number
  /** `undefined` if the conversation ended before an answer. */
  readonly answer: string | undefined
}

export class ScriptedSpeaker {
  readonly body: Body
  readonly spoken: SpokenLine[] = []
  readonly #town: Town
  #remaining: readonly ScriptLine[]
  /** The last line, while it has no answer. */
  #open: { readonly line: ScriptLine; readonly at: number } | undefined
  #lineCount = 0
  #invited: { readonly listener: string; readonly at: number } | undefined
  /** Maps a listener to the earliest time of the next invitation. */
  readonly #notBefore = new Map<string, number>()

  constructor(town: Town, body: Body, lines: readonly ScriptLine[]) {
    this.#town = town
    this.body = body
    this.#remaining = lines.filter(({ speaker }) => speaker === body.id)
  }

  /** Lines that were not spoken. */
  get remaining(): readonly ScriptLine[] {
    return this.#remaining
  }

  /** Executes one minute of the script. */
  step(): void {
    const { engagement } = this.body
    if (engagement?.kind === 'talk') {
      this.#invited = undefined
      const { participants, utterances, since } = engagement.talk
      const other = participants.find((id) => id !== this.body.id) ?? ''
      this.#converse(utterances, other, since)
      return
    }
    this.#recordAnswer(undefined)
    this.#lineCount = 0
    this.#findListener()
  }

  #converse(utterances: readonly Utterance[], other: string, since: number): void {
    const last = utterances.at(-1)
    const isAnswered = last !== undefined && last.speaker === other
    if (isAnswered) this.#recordAnswer(last.text)
    const waited = this.#town.time - (last?.time ?? since)
    if (!isAnswered && last !== undefined) {
      if (waited >= delays.answer) execute(this.#town, this.body, cancel)
      return
    }
    if (last !== undefined && /\b(goodbye|have to go)\b/i.test(last.text)) {
      execute(this.#town, this.body, cancel)
      return
    }
    const next =
      this.#lineCount < maxLines ? this.#findDueLines().find(({ listener }) => listener === other) : undefined
    if (next === undefined) {
      if (speak(this.#town, this.body, 'Goodbye.')) this.#notBefore.set(other, this.#town.time + 5)
      return
    }
    if (!speak(this.#town, this.body, next.text)) return
    this.#lineCount += 1
    this.#open = { line: next, at: this.#town.time }
    this.#remaining = this.#remaining.filter((line) => line !== next)
  }

  /** Records the open line with its answer. A statement counts as spoken even without an answer. */
  #recordAnswer(answer: string | undefined): void {
    if (this.#open === undefined) return
    const { line, at } = this.#open
    this.#open = undefined
    this.spoken.push({ line, at, answer })
  }

  /** Walks to the nearest listener of a due line, or invites it if it is near. */
  #findListener(): void {
    const { time } = this.#town
    if (this.#invited !== undefined) {
      const { listener, at } = this.#invited
      const isPending = [...this.#town.body(listener).bids.values()].some(({ from }) => from === this.body.id)
      if (isPending) return
      this.#invited = undefined
      if (at < time) this.#notBefore.set(listener, time + delays.refused)
    }
    const listeners = this.#findDueLines()
      .map(({ listener }) => this.#town.body(listener))
      .filter(({ id, engagement }) => engagement === undefined && (this.#notBefore.get(id) ?? 0) <= time)
    const measure = ({ position }: Body): number => distance(position, this.body.position)
    const nearest = listeners.sort((a, b) => measure(a) - measure(b) || (a.id < b.id ? -1 : 1))[0]
    if (nearest === undefined) return
    if (measure(nearest) > 2) {
      this.body.movement = { to: nearest.position, kind: 'moving' }
      return
    }
    this.body.movement = undefined
    invite(this.#town, this.body, nearest)
    this.#invited = { listener: nearest.id, at: time }
  }

  #findDueLines(): readonly ScriptLine[] {
    // A fact cannot be corrected before it is stated.
    const unstated = new Set(this.#remaining.flatMap(({ kind, id }) => (kind === 'state' ? [id] : [])))
    return this.#remaining.filter(
      ({ from, kind, id }) => from <= this.#town.time && !(kind === 'correct' && unstated.has(id)),
    )
  }
}

const cancel = { action: 'cancel_interaction', parameters: {} } as const
