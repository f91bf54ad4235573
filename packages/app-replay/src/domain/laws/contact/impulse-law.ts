/** Laws `impulse_values` and `impulse_direction` (docs/laws.md, Contacts). */
import { frictionAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { num } from '../../steps/block.ts'
import { getImpulseTolerance, readContactImpulse } from '../../steps/momentum.ts'
import { RunCollector } from '../../steps/run.ts'
import { getImpulseFactor } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Law } from '../law.ts'

const parts = ['n', 't1', 't2'] as const

export function impulseLaw(): Law {
  const infiniteNumbers = new RunCollector(2)
  const absentNumbers = { n: new RunCollector(2), t1: new RunCollector(2), t2: new RunCollector(2) }
  const isRecorded = { n: false, t1: false, t2: false }
  const recordedPulls = new RunCollector(2)
  const derivedPulls = new RunCollector(2)

  const observeRow = (step: Step, at: number, sums: ReadonlyMap<number, number>): void => {
    const { window, frame, scene, dt } = step
    const block = window.friction.data.data
    const [a, b] = [num(block, at + frictionAt.a), num(block, at + frictionAt.b)]
    const key = a * 2 ** 32 + b
    const subject = { bodies: [a, b], pair: [a, b] as const }
    for (const part of parts) {
      const value = num(block, at + frictionAt[part])
      if (Number.isNaN(value)) absentNumbers[part].add(key, frame, { value: 1, limit: 0 }, subject)
      else if (!Number.isFinite(value)) infiniteNumbers.add(key, frame, { value, limit: 0 }, subject)
      else isRecorded[part] = true
    }
    const n = num(block, at + frictionAt.n)
    const factor = getImpulseFactor(scene, dt)
    if (n < -1e-9 && -n > 0.01 * (sums.get(key) ?? 0)) {
      const value = Number.isNaN(factor) ? n : n * factor
      recordedPulls.add(key, frame, { value, limit: 0, excess: -n }, subject)
    }
  }

  return {
    observe(step) {
      const { offset, data } = step.window.friction
      const [from, to] = [offset[step.row] ?? 0, offset[step.row + 1] ?? 0]
      if (to > from) {
        const sums = sumNormals(data.data, from, to)
        for (let row = from; row < to; row++) observeRow(step, row * frictionAt.width, sums)
      }
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || step.scene.hasSubsteps) return
      if (step.touches.every(({ frictionRows }) => frictionRows > 0)) return
      for (const touch of step.touches) {
        const { columnA, columnB, a, b, frictionRows, normal } = touch
        // The environment is always body b.
        if (frictionRows > 0 || columnB >= 0 || columnA < 0) continue
        if (num(step.partners, columnA) !== 1 || touch.normals.count !== 1) continue
        const contactImpulse = readContactImpulse(step, columnA)
        const impulse = -(
          contactImpulse[0] * normal[0] +
          contactImpulse[1] * normal[1] +
          contactImpulse[2] * normal[2]
        )
        const tolerance = getImpulseTolerance(step, columnA, 0.05)
        if (impulse < -tolerance)
          derivedPulls.add(
            touch.key,
            step.frame,
            { value: impulse, limit: -tolerance },
            { bodies: [a, b], pair: [a, b] },
          )
      }
    },
    findings() {
      const absentRuns = parts.flatMap((part) => (isRecorded[part] ? absentNumbers[part].runs : []))
      const seenKeys = new Set<string>()
      const isNew = ({ bodies, first }: { readonly bodies: readonly number[]; readonly first: number }) => {
        const key = `${bodies} ${first}`
        return !seenKeys.has(key) && seenKeys.add(key) !== undefined
      }
      return [
        ...[...infiniteNumbers.runs, ...absentRuns]
          .filter(isNew)
          .map((run) =>
            createFinding(run, { kind: 'invalid_impulse', unit: 'absent numbers', confidence: 1 }),
          ),
        ...recordedPulls.runs.map((run) =>
          createFinding(run, { kind: 'attractive_impulse', unit: 'N·s', confidence: 0.95 }),
        ),
        ...derivedPulls.runs.map((run) =>
          createFinding(run, { kind: 'attractive_impulse', unit: 'N·s', confidence: 0.7 }),
        ),
      ]
    },
  }
}

function sumNormals(block: Float64Array, from: number, to: number): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (let row = from; row < to; row++) {
    const at = row * frictionAt.width
    const key = num(block, at + frictionAt.a) * 2 ** 32 + num(block, at + frictionAt.b)
    sums.set(key, (sums.get(key) ?? 0) + Math.abs(num(block, at + frictionAt.n)))
  }
  return sums
}
