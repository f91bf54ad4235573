import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bodyAt, bodyWidth, hasEnergy, hasState, type PackedFrame } from '../src/recorder/packed-frame.ts'
import { systemEnergy, writeEnergies } from '../src/recorder/run-energy.ts'
import type { RunBody } from '../src/recorder/run-facts.ts'
import { openRunWriter, type RunWriter } from '../src/recorder/run-writer.ts'
import { lineReader } from '../src/recorder/wire-frame.ts'
import { frameLine, runLine } from './run-lines.ts'

const now = 1_700_000_000_000

interface Run {
  readonly writer: RunWriter
  /** Reads a line and takes it; gives the frame that it says, and whether it was new. */
  send(text: string): { readonly frame: PackedFrame | undefined; readonly isNew: boolean }
}

/** A run that is written in this thread, closed with the test. */
function open(t: Test): Run {
  const writer = openRunWriter(join(t.testdir(), 'run.db'), now)
  t.teardown(() => writer.close())
  const readLine = lineReader(writer.knowledge)
  return {
    writer,
    send(text) {
      const line = readLine(text)
      if ('run' in line) {
        writer.addRun(line.run)
        return { frame: undefined, isNew: true }
      }
      return { frame: line.frame, isNew: writer.addFrame(line.frame, now) }
    },
  }
}

t.test('run writer: frames that are sent again are read into the same memory', async (t) => {
  const { writer, send } = open(t)
  send(runLine)
  const first = send(frameLine(3)).frame?.bodies.buffer
  writer.flush(now)
  const used = new Set(Array.from({ length: 3000 }, () => send(frameLine(3)).frame?.bodies.buffer))
  t.equal(used.size, 1)
  t.ok(used.has(first))
})

const brick: RunBody = {
  id: 1,
  mass: 2,
  restitution: 0,
  friction: 0,
  asset: 0,
  inertia: [0.5, 0.25, 0.125],
  extents: [1, 1, 1],
  isEnvironment: false,
}

/** The row of a body at (1, 2, 3) m that moves at (1, 2, 2) m/s. */
function movingRow(): Float64Array {
  const row = new Float64Array(bodyWidth)
  row[bodyAt.parts] = hasState
  row.set([1, 2, 3], bodyAt.position)
  row.set([1, 2, 2], bodyAt.velocity)
  row.fill(Number.NaN, bodyAt.energy, bodyAt.energy + 4)
  return row
}

t.test('writeEnergies computes kinetic and potential energy from mass, inertia and gravity', async (t) => {
  const energies = (body: RunBody | undefined, gravity: [number, number, number] | null) => {
    const row = movingRow()
    writeEnergies(row, 0, body, gravity, [1, 2, 3])
    return [row[bodyAt.parts], ...row.subarray(bodyAt.energy, bodyAt.energy + 4)]
  }
  const [linear, rotational, potential] = [9, 0.5 * (0.5 + 1 + 1.125), 2 * 10 * 3]
  const parts = hasState | hasEnergy
  t.same(energies(brick, [0, 0, -10]), [
    parts,
    linear,
    rotational,
    potential,
    linear + rotational + potential,
  ])
  t.same(energies(brick, null), [parts, linear, rotational, Number.NaN, linear + rotational])
  const unknown = [hasState, Number.NaN, Number.NaN, Number.NaN, Number.NaN]
  t.same(energies(undefined, null), unknown, 'an unknown body')
  t.same(energies({ ...brick, mass: Number.NaN }, null), unknown, 'an unknown mass')
})

t.test('systemEnergy reports an injection above one millionth of the total and 1 nJ', async (t) => {
  const rows = new Float64Array()
  const isInjection = (before: number, total: number) =>
    systemEnergy(rows, { total }, before, false)?.injection
  t.equal(isInjection(1000, 1000.0009), false)
  t.equal(isInjection(1000, 1000.0011), true)
  t.equal(isInjection(1000, 999), false, 'a loss is not an injection')
  t.equal(isInjection(-1000, -999.9991), false, 'the total may be negative')
  t.equal(isInjection(0, 0.9e-9), false)
  t.equal(isInjection(0, 1.1e-9), true)
  t.equal(systemEnergy(rows, { total: 5 }, Number.NaN, false)?.delta, 5, 'the first frame')
  t.equal(systemEnergy(rows, {}, 0, false), null, 'no energy is known')
})

t.test('systemEnergy adds the energies of the bodies', async (t) => {
  const moving = movingRow()
  writeEnergies(moving, 0, brick, [0, 0, -10], [0, 0, 0])
  const rows = new Float64Array([...moving, ...movingRow(), ...moving])
  t.match(systemEnergy(rows, {}, 100, true), {
    linear: 18,
    rotational: 0,
    potential: 120,
    total: 138,
    delta: 38,
    injection: true,
    active: true,
  })
  const free = movingRow()
  writeEnergies(free, 0, brick, null, [0, 0, 0])
  t.match(systemEnergy(free, {}, 0, false), { total: 9, injection: false, active: false }, 'without gravity')
})
