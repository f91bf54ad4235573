import { type FrameWindow, stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, length3, num, read3 } from './block.ts'

interface SleepStep {
  readonly scene: { readonly bodies: readonly number[] }
  readonly window: FrameWindow
  readonly row: number
  readonly impulse: Float64Array
  readonly impulseKnown: Uint8Array
  readonly asleep: Uint8Array
  readonly touching: Uint8Array
  readonly touchedBefore: Uint8Array
  readonly distance: Float64Array
}

/** Sets `asleep`. `completeKnowledge` is the value of `impulseKnown` for known impulses. */
export function findAsleep(step: SleepStep, completeKnowledge: number): void {
  const { scene, row, impulse, impulseKnown, asleep, touching, touchedBefore, distance } = step
  for (let column = 0; column < scene.bodies.length; column++) {
    const hadContact = asleep[column] === 1 || touching[column] === 1 || touchedBefore[column] === 1
    const isSupported =
      touching[column] === 1 &&
      (impulseKnown[column] !== completeKnowledge || length3(...read3(impulse, 3 * column)) > 0)
    const isAsleep = row > 0 && hadContact && !isSupported && distance[column] === 0 && isStill(step, column)
    asleep[column] = isAsleep ? 1 : 0
  }
}

function isStill(step: SleepStep, column: number): boolean {
  const s = step.window.states.data
  for (const from of [getOffset(step, column), getOffsetBefore(step, column)])
    for (const part of [stateAt.velocity, stateAt.spin])
      for (let i = from + part; i < from + part + 3; i++) if ((num(s, i) || 0) !== 0) return false
  return true
}
