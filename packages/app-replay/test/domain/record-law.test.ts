import t from 'tap'
import { recordLaw } from '../../src/domain/laws/record-law.ts'
import { dt, falling, runLaw, type SceneSpec } from './law-kit.ts'

const fall: SceneSpec = { frames: 30, masses: [2], state: falling }

t.test('recordLaw accepts a plain fall', async (t) => {
  t.same(runLaw(recordLaw(), fall), [])
})

t.test('recordLaw reports missing numbers, frozen and jumping clocks, and missing ids', async (t) => {
  const absent = {
    ...fall,
    state: (frame: number) => (frame === 9 ? { velocity: [0, 0, Number.NaN] as const } : falling(frame)),
  }
  t.match(runLaw(recordLaw(), absent)[0], {
    kind: 'nan',
    frames: { first: 9, last: 9 },
    bodies: [1],
    value: 1,
  })
  const frozen = { ...fall, time: (frame: number) => Math.min(frame, 20) * dt }
  t.match(runLaw(recordLaw(), frozen), [{ kind: 'frozen_time', frames: { first: 21, last: 30 } }])
  const late = { ...fall, time: (frame: number) => (frame < 12 ? frame : frame + 1) * dt }
  t.match(runLaw(recordLaw(), late), [{ kind: 'nonuniform_dt', frames: { first: 12, last: 12 } }])
  const gap = { ...fall, id: (row: number) => (row < 10 ? row + 1 : row + 4) }
  t.match(runLaw(recordLaw(), gap), [{ kind: 'missing_frames', frames: { first: 14 }, value: 3 }])
})

t.test('recordLaw accepts a body without velocities if another one has them', async (t) => {
  const unknown = [Number.NaN, Number.NaN, Number.NaN] as const
  const run = (hasVelocity: (frame: number, body: number) => boolean) =>
    runLaw(recordLaw(), {
      frames: 30,
      masses: [2, 3],
      state: (frame, body) => ({
        ...falling(frame),
        ...(hasVelocity(frame, body) ? {} : { velocity: unknown }),
      }),
    })
  t.same(
    run((_frame, body) => body === 1),
    [],
  )
  // A body that has a velocity at first loses it.
  t.match(
    run((frame, body) => body === 1 || frame < 9),
    [{ kind: 'nan', bodies: [2], frames: { first: 9, last: 30 } }],
  )
})

t.test('recordLaw requires quaternions of length 1 within 1e-6', async (t) => {
  const of = (length: number) => ({ ...fall, state: () => ({ orientation: [length, 0, 0, 0] as const }) })
  t.same(runLaw(recordLaw(), of(1 + 0.9e-6)), [])
  const [found] = runLaw(recordLaw(), of(1 + 1.1e-6))
  t.match(found, { kind: 'quaternion_norm', frames: { first: 1, last: 30 } })
})

t.test('recordLaw accepts the length of float32 and rounded quaternions', async (t) => {
  const turn = (frame: number) => [Math.cos(frame / 50), 0, Math.sin(frame / 50), 0] as const
  type Convert = (part: number) => number
  const run = (convert: Convert) =>
    runLaw(recordLaw(), {
      ...fall,
      state: (frame) => {
        const [w, x, y, z] = turn(frame)
        return { orientation: [convert(w), convert(x), convert(y), convert(z)] as const }
      },
    })
  const inText = (part: number) => Number(Math.fround(part).toPrecision(8))
  for (const scale of [1 - 1e-5, 1 + 1e-6, 1 + 1e-5]) {
    t.same(
      run((part) => Math.fround(scale * part)),
      [],
      `float32, length ${scale}`,
    )
    t.same(
      run((part) => inText(scale * part)),
      [],
      `float32 in text, length ${scale}`,
    )
  }
  for (const decimals of [3, 4, 5, 6])
    t.same(
      run((part) => Number(part.toFixed(decimals))),
      [],
      `${decimals} decimals`,
    )
  const wrong: Readonly<Record<string, Convert>> = {
    'float64, 1e-5': (part) => (1 + 1e-5) * part,
    'float32, 1e-4': (part) => Math.fround((1 + 1e-4) * part),
    '4 decimals, 1e-3': (part) => Number(((1 + 1e-3) * part).toFixed(4)),
  }
  for (const orientation of [
    [0, 0, 0, 0],
    [2, 0, 0, 0],
    [1, 1, 0, 0],
    [0.5, 0.5, 0.5, 0],
  ] as const)
    t.match(runLaw(recordLaw(), { ...fall, state: () => ({ orientation }) }), [{ kind: 'quaternion_norm' }])
  for (const [name, convert] of Object.entries(wrong))
    t.match(run(convert), [{ kind: 'quaternion_norm' }], name)
})
