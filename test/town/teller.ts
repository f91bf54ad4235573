/** One who follows the script: looks somebody up, invites them, says what there is to say, hears the answers, and leaves. */
import { carryOut, invite, speak } from './act.ts'
import { type Body, type Said, steps } from './body.ts'
import type { Errand } from './script.ts'
import type { Town } from './town.ts'

/** Minutes until somebody who turned the teller down is asked again, and that an answer may take. */
const patience = { refused: 30, answer: 12 } as const

/** Most that is said in one conversation: who listens ends it after four utterances. */
const mostTopics = 2

/** What came of an errand. */
export interface Done {
  readonly errand: Errand
  readonly at: number
  /** The answer, undefined where none came before the conversation ended. */
  readonly answer: string | undefined
}

/** A teller. */
export class Teller {
  readonly body: Body
  readonly done: Done[] = []
  readonly #town: Town
  #left: readonly Errand[]
  /** The errand that was said last and waits for its answer. */
  #open: { readonly errand: Errand; readonly at: number } | undefined
  #topics = 0
  #invited: { readonly hearer: string; readonly at: number } | undefined
  readonly #notBefore = new Map<string, number>()

  constructor(town: Town, body: Body, errands: readonly Errand[]) {
    this.#town = town
    this.body = body
    this.#left = errands.filter(({ teller }) => teller === body.id)
  }

  /** Errands that were not run. */
  get left(): readonly Errand[] {
    return this.#left
  }

  /** One minute of the script. */
  step(): void {
    const { engaged } = this.body
    if (engaged?.kind === 'talk') {
      this.#invited = undefined
      const other = engaged.talk.participants.find((id) => id !== this.body.id) ?? ''
      this.#converse(engaged.talk.said, other, engaged.talk.since)
      return
    }
    this.#conclude(undefined)
    this.#topics = 0
    this.#seek()
  }

  #converse(said: readonly Said[], other: string, since: number): void {
    const last = said.at(-1)
    const isAnswered = last !== undefined && last.speaker === other
    if (isAnswered) this.#conclude(last.text)
    const waited = this.#town.time - (last?.time ?? since)
    if (!isAnswered && last !== undefined) {
      if (waited >= patience.answer) carryOut(this.#town, this.body, leaving)
      return
    }
    if (last !== undefined && /\b(goodbye|have to go)\b/i.test(last.text)) {
      carryOut(this.#town, this.body, leaving)
      return
    }
    const next = this.#topics < mostTopics ? this.#due().find(({ hearer }) => hearer === other) : undefined
    if (next === undefined) {
      if (speak(this.#town, this.body, 'Goodbye.')) this.#notBefore.set(other, this.#town.time + 5)
      return
    }
    if (!speak(this.#town, this.body, next.text)) return
    this.#topics += 1
    this.#open = { errand: next, at: this.#town.time }
    this.#left = this.#left.filter((one) => one !== next)
  }

  /** Notes what came of the last thing that was said; what was only told and not asked needs no answer to be heard. */
  #conclude(answer: string | undefined): void {
    if (this.#open === undefined) return
    const { errand, at } = this.#open
    this.#open = undefined
    this.done.push({ errand, at, answer })
  }

  #seek(): void {
    const { time } = this.#town
    if (this.#invited !== undefined) {
      const { hearer, at } = this.#invited
      const isPending = [...this.#town.body(hearer).bids.values()].some(({ from }) => from === this.body.id)
      if (isPending) return
      this.#invited = undefined
      if (at < time) this.#notBefore.set(hearer, time + patience.refused)
    }
    const hearers = this.#due()
      .map(({ hearer }) => this.#town.body(hearer))
      .filter((one) => one.engaged === undefined && (this.#notBefore.get(one.id) ?? 0) <= time)
    const far = ({ position }: Body): number => steps(position, this.body.position)
    const nearest = hearers.sort((a, b) => far(a) - far(b) || (a.id < b.id ? -1 : 1))[0]
    if (nearest === undefined) return
    if (far(nearest) > 2) {
      this.body.way = { to: nearest.position, kind: 'moving' }
      return
    }
    this.body.way = undefined
    invite(this.#town, this.body, nearest)
    this.#invited = { hearer: nearest.id, at: time }
  }

  #due(): readonly Errand[] {
    // What was not told cannot be corrected yet.
    const untold = new Set(this.#left.flatMap(({ kind, id }) => (kind === 'tell' ? [id] : [])))
    return this.#left.filter(
      ({ from, kind, id }) => from <= this.#town.time && !(kind === 'correct' && untold.has(id)),
    )
  }
}

const leaving = { action: 'cancel_interaction', parameters: {} } as const
