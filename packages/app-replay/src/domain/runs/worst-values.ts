import {
  collisionAt,
  type FrameWindow,
  solverAt,
  stateAt,
  systemAt,
  type WorstValues,
} from '@causeway/recording'
import { getOffset, length3, num, read3 } from '../steps/block.ts'
import type { Step } from '../steps/step.ts'

export class WorstCollector {
  #depth = Number.NEGATIVE_INFINITY
  #speed = Number.NEGATIVE_INFINITY
  #energyStep = Number.NEGATIVE_INFINITY
  #iterations = Number.NEGATIVE_INFINITY
  #residual = Number.NEGATIVE_INFINITY

  observe(step: Step): void {
    const { scene, window, row, frame } = step
    const { collisions, states, system, solver } = window
    const end = collisions.offset[row + 1] ?? 0
    for (let i = collisions.offset[row] ?? end; i < end; i++)
      this.#depth = selectLarger(
        this.#depth,
        num(collisions.data.data, i * collisionAt.width + collisionAt.depth),
      )
    for (let column = 0; column < scene.bodies.length; column++) {
      if (window.present[row * scene.bodies.length + column] === 0) continue
      this.#speed = selectLarger(
        this.#speed,
        length3(...read3(states.data, getOffset(step, column) + stateAt.velocity)),
      )
    }
    const offset = row * solverAt.width
    this.#iterations = selectLarger(this.#iterations, num(solver.data, offset + solverAt.iterations))
    this.#residual = selectLarger(this.#residual, num(solver.data, offset + solverAt.residual))
    // Across a gap, or if a body appears or disappears, the change is not that of one step.
    if (row === 0 || window.frames[row - 1] !== frame - 1 || hasOtherBodies(window, row, scene.bodies.length))
      return
    const total = (row: number): number => num(system.data, row * systemAt.width + systemAt.total)
    this.#energyStep = selectLarger(this.#energyStep, Math.abs(total(row) - total(row - 1)))
  }

  get values(): WorstValues {
    return {
      worst_penetration_m: toKnown(this.#depth),
      worst_speed_m_s: toKnown(this.#speed),
      worst_energy_step_j: toKnown(this.#energyStep),
      worst_iterations: toKnown(this.#iterations),
      worst_residual: toKnown(this.#residual),
    }
  }
}

function hasOtherBodies({ present }: FrameWindow, row: number, count: number): boolean {
  const at = row * count
  for (let column = 0; column < count; column++)
    if ((present[at + column] === 0) !== (present[at - count + column] === 0)) return true
  return false
}

const selectLarger = (a: number, b: number): number => (Number.isFinite(b) && b > a ? b : a)

const toKnown = (value: number): number | null => (Number.isFinite(value) ? value : null)
