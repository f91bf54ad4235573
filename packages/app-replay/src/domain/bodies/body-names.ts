import type { BodyId } from '@causeway/recording'
import type { Scene } from '../steps/scene.ts'
import type { Step } from '../steps/step.ts'

/** Bodies without a name are not included. */
export type BodyNames = Readonly<Record<BodyId, string>>

/** Cosine of 45 degrees. */
const level = Math.SQRT1_2

/** Unnamed environment bodies are floor, ceiling or wall by the direction of their first contact. */
export class BodyNameCollector {
  readonly #names = new Map<BodyId, string>()
  readonly #counts = new Map<string, number>()
  readonly #isEnvironment: Scene['isEnvironment']

  constructor({ geometry, isEnvironment }: Scene) {
    this.#isEnvironment = isEnvironment
    for (const { body_id, name } of geometry.values()) if (name !== null) this.#names.set(body_id, name)
  }

  observe({ touches, scene }: Step): void {
    for (const { b, normal } of touches) {
      if (this.#names.has(b) || !this.#isEnvironment(b) || Number.isNaN(normal[0])) continue
      const [x, y, z] = scene.g > 0 ? scene.gravity : [0, 0, -1]
      const down = (normal[0] * x + normal[1] * y + normal[2] * z) / (scene.g > 0 ? scene.g : 1)
      const kind = down > level ? 'floor' : down < -level ? 'ceiling' : 'wall'
      const count = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, count)
      this.#names.set(b, count === 1 ? kind : `${kind} ${count}`)
    }
  }

  get names(): BodyNames {
    return Object.fromEntries(this.#names)
  }
}

/** The id is written without bit 31 of the environment. */
function nameBody(id: BodyId, names: BodyNames): string {
  const name = names[id]
  if (id >= 2 ** 31) return name ?? `environment body ${id - 2 ** 31}`
  return name === undefined ? `body ${id}` : `${name} (body ${id})`
}

/** `body 1`, `body 1 and floor`, `body 1, body 2 and body 3` */
export function nameBodies(ids: readonly BodyId[], names: BodyNames, shown = 3): string {
  const all = ids.map((id) => nameBody(id, names))
  if (all.length <= 1) return all.join('')
  if (all.length > shown) return `${all.slice(0, shown).join(', ')} and ${all.length - shown} more`
  return `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
