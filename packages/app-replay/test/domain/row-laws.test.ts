/** Laws of rows: masses, ids, repeated states and energies. */
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { bodyLaw } from '../../src/domain/laws/body-law.ts'
import { chatterLaw } from '../../src/domain/laws/contact/chatter-law.ts'
import { energyRowLaw } from '../../src/domain/laws/motion/energy-row-law.ts'
import { dt, falling, runLaw, type SceneSpec } from './law-kit.ts'

const flying: SceneSpec = {
  frames: 20,
  masses: [2],
  state: (frame) => ({ position: [3 * frame * dt, 0, 0], velocity: [3, 0, 0] }),
}

verifies('replay:laws:rows', 'body reports masses that are not positive', async (t) => {
  t.same(runLaw(bodyLaw(), flying), [])
  for (const mass of [0, -1, Number.POSITIVE_INFINITY])
    t.match(
      runLaw(bodyLaw(), { ...flying, masses: [mass] }),
      [{ kind: 'invalid_mass', bodies: [1] }],
      `${mass}`,
    )
})

verifies('replay:laws:rows', 'body reports a first frame that has already exploded', async (t) => {
  const exploded: SceneSpec = { ...flying, state: () => ({ velocity: [2e5, 0, 0] }) }
  t.match(runLaw(bodyLaw(), exploded)[0], { kind: 'blow_up', bodies: [1], frames: { first: 1 }, unit: 'm/s' })
})

verifies('replay:laws:rows', 'body reports a run that diverges, whatever forces were recorded', async (t) => {
  const growing = (factor: number): SceneSpec => ({
    ...flying,
    state: (frame) => ({ velocity: [0, (-factor) ** frame, 0] }),
  })
  t.match(runLaw(bodyLaw(), growing(3)), [
    { kind: 'blow_up', bodies: [1], frames: { first: 9, last: 20 }, value: 3 ** 20, unit: 'm/s' },
  ])
  t.same(runLaw(bodyLaw(), growing(1.9)), [], 'fast, but below 1000 km/s')
  t.same(runLaw(bodyLaw(), { ...growing(3), gravity: [0, 0, 0] }), [], 'units are unknown without gravity')
})

verifies('replay:laws:rows', 'body reports contacts of a body without states', async (t) => {
  const found = runLaw(bodyLaw(), { ...flying, touches: (frame) => (frame === 4 ? [{ a: 1, b: 77 }] : []) })
  t.match(found, [{ kind: 'invalid_body_id', bodies: [77], frames: { first: 4, last: 4 } }])
})

verifies('replay:laws:rows', 'body reports a repeated state of a moving body', async (t) => {
  const repeated = (frame: number): number => (frame === 9 ? 8 : frame)
  const found = runLaw(bodyLaw(), { ...flying, state: (frame) => flying.state(repeated(frame), 1) })
  t.match(found, [{ kind: 'duplicate_state', bodies: [1], frames: { first: 9, last: 9 } }])
  t.same(runLaw(bodyLaw(), { ...flying, state: () => ({ velocity: [0, 0, -0.0981] }) }), [], 'a resting body')
})

verifies('replay:laws:rows', 'energies that contradict state or sum are reported', async (t) => {
  t.same(runLaw(energyRowLaw(), { frames: 20, masses: [2], state: falling }), [])
  const spinning = (rotational: number): SceneSpec => ({
    frames: 5,
    masses: [2],
    inertias: [[0.1, 0.2, 0.3]],
    state: () => ({ spin: [1, 2, 3], rotational }),
  })
  t.same(runLaw(energyRowLaw(), spinning(0.5 * (0.1 + 0.8 + 2.7))), [], 'w I w / 2 = 1.8 J')
  t.match(runLaw(energyRowLaw(), spinning(1.9)), [{ kind: 'energy_rows', text: /rotational/ }])
})

verifies('replay:laws:rows', 'corners of a rocking body do not chatter', async (t) => {
  const flickering = (spin: number): SceneSpec => ({
    frames: 60,
    masses: [1],
    state: () => ({ spin: [0, spin, 0] }),
    touches: (frame) => (frame % 4 === 0 ? [] : [{ n: 1 }]),
  })
  t.match(runLaw(chatterLaw(), flickering(0)), [{ kind: 'contact_chatter' }])
  t.same(runLaw(chatterLaw(), flickering(0.5)), [])
})

t.end()
