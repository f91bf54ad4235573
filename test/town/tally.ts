/** Collects the statistics of a simulated town. */
import type { Action } from './act.ts'
import type { Body, Talk } from './body.ts'
import { day, type Town } from './town.ts'

/** Maximum number of decisions until a question is answered, and of minutes without an utterance in a conversation. */
const limits = { decisions: 3, silence: 10 } as const

/** Fraction of a need's maximum below which the need is critical. */
const critical = 0.25

/** Statistics of a run. */
export class Tally {
  decisions = 0
  readonly illegal: string[] = []
  readonly questions = { answered: 0, missed: [] as string[] }
  readonly needs = { minutes: 0, critical: 0, byNeed: {} as Record<string, number> }
  readonly deadlocks: string[] = []
  readonly talks = { count: 0, utterances: 0 }
  /** The distinct texts of all utterances. */
  readonly texts = new Set<string>()
  /** Questions without an answer, by conversation. */
  readonly #open = new Map<string, { readonly asker: string; readonly text: string; decisions: number }>()
  readonly #silent = new Set<string>()

  /** Records the needs and conversations after a simulated minute. */
  recordMinute(town: Town): void {
    const { max } = town.preset
    // The characters explore the town on the first day.
    if (town.time > day)
      for (const { needs } of town.characters)
        for (const [need, value] of Object.entries(needs)) {
          this.needs.minutes += 1
          if (value >= critical * max) continue
          this.needs.critical += 1
          this.needs.byNeed[need] = (this.needs.byNeed[need] ?? 0) + 1
        }
    for (const talk of town.talks.values()) {
      const since = talk.utterances.at(-1)?.time ?? talk.since
      if (town.time - since <= limits.silence || this.#silent.has(talk.id)) continue
      this.#silent.add(talk.id)
      this.deadlocks.push(`${town.time} ${talk.participants.join(' and ')}`)
    }
  }

  /** Records the decision of a character. Must be called before the action is executed. */
  recordDecision(town: Town, body: Body, action: Action): void {
    this.decisions += 1
    if (body.engagement?.kind !== 'talk') return
    const { talk } = body.engagement
    const open = this.#open.get(talk.id)
    const lastObserved = talk.utterances.slice(0, talk.observed.get(body.id) ?? 0).at(-1)
    if (open === undefined || open.asker === body.id) return
    if (lastObserved?.speaker !== open.asker && open.decisions === 0) return
    if (action.action === 'act_in_interaction') this.#close(talk, undefined)
    else {
      open.decisions += 1
      if (open.decisions >= limits.decisions)
        this.#close(talk, `${town.time} ${body.id} to ${open.asker}: ${open.text}`)
    }
  }

  /** Records the utterance of a body in this minute, if any. Must be called after the action is executed. */
  recordUtterance(town: Town, body: Body): void {
    if (body.engagement?.kind !== 'talk') return
    const { talk } = body.engagement
    const last = talk.utterances.at(-1)
    if (last === undefined || last.speaker !== body.id || last.time !== town.time) return
    this.talks.utterances += 1
    this.texts.add(last.text)
    const other = town.body(talk.participants.find((id) => id !== body.id) ?? body.id)
    if (!last.text.endsWith('?') || other.isScripted || this.#open.has(talk.id)) return
    this.#open.set(talk.id, { asker: body.id, text: last.text, decisions: 0 })
  }

  /** Records the end of a conversation. An open question counts as missed unless the asker left. */
  recordEnd(town: Town, talk: Talk, endedBy: string): void {
    this.talks.count += 1
    const open = this.#open.get(talk.id)
    if (open === undefined) return
    if (open.asker === endedBy) this.#open.delete(talk.id)
    else this.#close(talk, `${town.time} ${endedBy} left ${open.asker}: ${open.text}`)
  }

  #close(talk: Talk, missed: string | undefined): void {
    this.#open.delete(talk.id)
    if (missed === undefined) this.questions.answered += 1
    else this.questions.missed.push(missed)
  }
}
