/** What is counted while a town runs. */
import type { Action } from './act.ts'
import type { Body, Talk } from './body.ts'
import { day, type Town } from './town.ts'

/** Decisions within which a question must be answered, and minutes after which silence of both is a deadlock. */
const limits = { decisions: 3, silence: 10 } as const

/** Share of a need below which it is critical. */
const critical = 0.25

/** Counts of a run. */
export class Tally {
  decisions = 0
  readonly illegal: string[] = []
  readonly questions = { answered: 0, missed: [] as string[] }
  readonly needs = { minutes: 0, critical: 0, byNeed: {} as Record<string, number> }
  readonly deadlocks: string[] = []
  readonly talks = { begun: 0, utterances: 0 }
  /** Everything that was said, each once. */
  readonly said = new Set<string>()
  /** Questions that wait for an answer, by conversation. */
  readonly #open = new Map<string, { readonly asker: string; readonly text: string; decisions: number }>()
  readonly #silent = new Set<string>()

  /** A minute has passed. */
  minute(town: Town): void {
    const { max } = town.preset
    // The first day is for finding one's way.
    if (town.time > day)
      for (const { needs } of town.folk)
        for (const [need, value] of Object.entries(needs)) {
          this.needs.minutes += 1
          if (value >= critical * max) continue
          this.needs.critical += 1
          this.needs.byNeed[need] = (this.needs.byNeed[need] ?? 0) + 1
        }
    for (const talk of town.talks.values()) {
      const since = talk.said.at(-1)?.time ?? talk.since
      if (town.time - since <= limits.silence || this.#silent.has(talk.id)) continue
      this.#silent.add(talk.id)
      this.deadlocks.push(`${town.time} ${talk.participants.join(' and ')}`)
    }
  }

  /** Somebody who can be asked has decided; called before the action is carried out. */
  decided(town: Town, body: Body, action: Action): void {
    this.decisions += 1
    if (body.engaged?.kind !== 'talk') return
    const { talk } = body.engaged
    const open = this.#open.get(talk.id)
    const asked = talk.said.slice(0, talk.heard.get(body.id) ?? 0).at(-1)
    if (open === undefined || open.asker === body.id) return
    if (asked?.speaker !== open.asker && open.decisions === 0) return
    if (action.action === 'act_in_interaction') this.#close(talk, undefined)
    else {
      open.decisions += 1
      if (open.decisions >= limits.decisions)
        this.#close(talk, `${town.time} ${body.id} to ${open.asker}: ${open.text}`)
    }
  }

  /** Somebody may have spoken; called after the action was carried out. */
  spoken(town: Town, body: Body): void {
    if (body.engaged?.kind !== 'talk') return
    const { talk } = body.engaged
    const last = talk.said.at(-1)
    if (last === undefined || last.speaker !== body.id || last.time !== town.time) return
    this.talks.utterances += 1
    this.said.add(last.text)
    const other = town.body(talk.participants.find((id) => id !== body.id) ?? body.id)
    if (!last.text.endsWith('?') || other.isScripted || this.#open.has(talk.id)) return
    this.#open.set(talk.id, { asker: body.id, text: last.text, decisions: 0 })
  }

  /** A conversation has ended: who leaves owes an answer, who asked and leaves is owed none. */
  ended(town: Town, talk: Talk, by: string): void {
    this.talks.begun += 1
    const open = this.#open.get(talk.id)
    if (open === undefined) return
    if (open.asker === by) this.#open.delete(talk.id)
    else this.#close(talk, `${town.time} ${by} left ${open.asker}: ${open.text}`)
  }

  #close(talk: Talk, missed: string | undefined): void {
    this.#open.delete(talk.id)
    if (missed === undefined) this.questions.answered += 1
    else this.questions.missed.push(missed)
  }
}
