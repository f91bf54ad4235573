import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { catalogue } from '../../fixtures/generate/generated/catalogue.ts'
import {
  type GeneratedEntry,
  generatedRecordings,
  loadEngines,
  writeRun,
} from '../../fixtures/generate/generated/generated.ts'
import type { FaultKind } from '../../fixtures/generate/generated/generated-spec.ts'
import { randomFault, randomScene } from '../../fixtures/generate/generated/random.ts'
import { contentHash, openCopy } from '../../fixtures/generate/manifest.ts'
import { frictionRows, norm, rows, states } from '../fixture-rows.ts'
import { type Audit, audit, type Law } from './fixture-audit.ts'

// The first test process to run generates all recordings.
tap.setTimeout(120_000)

/** The law that a kind of fault violates, and the laws that it inevitably violates in the same frames. */
const laws: Record<FaultKind, { readonly own?: Law; readonly implied?: readonly Law[] }> = {
  energy_injection: { own: 'energy_gain', implied: ['momentum'] },
  energy_drift: { own: 'energy_gain' },
  dissipation_without_contact: { own: 'energy_loss', implied: ['momentum'] },
  momentum: { own: 'momentum' },
  friction_cone: { own: 'cone' },
  penetration: { own: 'depth' },
  tunnelling: {},
  jitter: {},
  creep: {},
  contact_chatter: { own: 'contact' },
  normal_flip: { own: 'normal' },
  restitution: { own: 'restitution' },
  solver_stall: { own: 'solver', implied: ['momentum', 'energy_gain'] },
  nan: { own: 'null' },
  frozen_time: { own: 'clock', implied: ['position', 'momentum', 'energy_loss'] },
  nonuniform_dt: { own: 'clock' },
  quaternion_norm: { own: 'quaternion' },
  teleport: { own: 'position' },
  missing_frames: { own: 'gap' },
  blow_up: { own: 'energy_gain', implied: ['momentum', 'position'] },
}

/** Maximum energy that soft contacts return, in J, and maximum momentum error of settling bodies, in N*s. */
const noise = { energy: 0.03, momentum: 2e-6 }

const { folder, manifest } = await generatedRecordings()
const { recordings } = manifest
const faulty = recordings.filter((entry): entry is GeneratedEntry & { fault: object } => entry.fault !== null)
const openEntry = (name: string) => openCopy(join(folder, `${name}.db`))

const auditRecording = (name: string): Audit => {
  const db = openEntry(name)
  const found = audit(db, noise)
  db.close()
  return found
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** Returns the frames of an audit that violate a law, except the laws in `without`. */
const brokenFrames = (found: Audit, without: readonly Law[] = []): readonly (readonly [Law, number])[] =>
  [...found].flatMap(([law, frames]) =>
    without.includes(law) ? [] : [...frames.keys()].map((frame) => [law, frame] as const),
  )

/** Expects exactly the fault of the manifest. Only the first and last frame of chatter are compared; a flip also shows in the frame after its last. */
function expectFault(t: Test, name: string, fault: NonNullable<GeneratedEntry['fault']>, found: Audit): void {
  const { own, implied = [] } = laws[fault.kind]
  const { first_frame: first, last_frame: last } = fault
  if (own) {
    const broken = [...(found.get(own)?.keys() ?? [])].sort((a, b) => a - b)
    const end = fault.kind === 'normal_flip' ? last + 1 : last
    if (fault.kind === 'contact_chatter') {
      t.equal(broken[0], first, `${name}: first loss`)
      t.equal(broken.at(-1), last, `${name}: last loss`)
    } else t.same(broken, range(first, end), `${name}: ${own} in exactly the frames of the fault`)
  }
  const elsewhere = brokenFrames(found, own ? [own] : []).filter(
    ([law, frame]) => !implied.includes(law) || frame < first || frame > last,
  )
  t.same(elsewhere, [], `${name}: no other violations`)
}

test('the manifest lists exactly the generated recordings, with their hashes', async (t) => {
  t.same(
    recordings.map(({ name }) => name),
    catalogue.map(({ name }) => name),
  )
  for (const { name, sha256 } of recordings) t.equal(contentHash(join(folder, `${name}.db`)), sha256, name)
  const known = new Set(recordings.map(({ name }) => name))
  t.equal(known.size, recordings.length, 'names are unique')
  for (const { pair } of recordings) if (pair) t.ok(known.has(pair), pair)
})

test('the generated recordings include every kind of fault and many healthy scenes', async (t) => {
  t.same([...new Set(faulty.map(({ fault }) => fault.kind))].sort(), Object.keys(laws).sort())
  t.ok(faulty.length >= 40, `${faulty.length} faulty`)
  t.ok(recordings.length - faulty.length >= 20, `${recordings.length - faulty.length} healthy`)
  for (const { name, fault } of faulty) {
    t.ok(fault.first_frame <= fault.peak_frame && fault.peak_frame <= fault.last_frame, name)
    t.ok(Number.isFinite(fault.magnitude) && fault.magnitude !== 0, name)
  }
})

test('the README lists every generated recording', async (t) => {
  const text = readFileSync(join(import.meta.dirname, '../..', 'fixtures', 'README.md'), 'utf8')
  const named = [...text.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, name]) => name)
  t.same(named.sort(), recordings.map(({ name }) => name).sort())
})

test('healthy generated recordings violate no law in any frame', async (t) => {
  for (const { name, fault } of recordings)
    if (fault === null) t.same(brokenFrames(auditRecording(name)), [], name)
})

test('faulty generated recordings violate only their own law, in the frames of the manifest', async (t) => {
  for (const { name, fault } of faulty) expectFault(t, name, fault, auditRecording(name))
})

test('the magnitude of a fault in the manifest equals the measured one', async (t) => {
  const measured: Partial<Record<FaultKind, Law>> = {
    momentum: 'momentum',
    penetration: 'depth',
    restitution: 'restitution',
    nonuniform_dt: 'clock',
    quaternion_norm: 'quaternion',
    missing_frames: 'gap',
  }
  for (const { name, fault } of faulty) {
    const law = measured[fault.kind]
    const size = law && auditRecording(name).get(law)?.get(fault.peak_frame)
    if (law) t.ok(Math.abs((size ?? 0) / fault.magnitude - 1) < 0.01, `${name}: ${size} ${fault.magnitude}`)
  }
})

test('a body gains or loses the energy of the manifest in the frame of the manifest', async (t) => {
  const single = faulty.filter(
    ({ fault }) =>
      ['energy_injection', 'dissipation_without_contact'].includes(fault.kind) &&
      fault.first_frame === fault.last_frame,
  )
  t.ok(single.length >= 6)
  for (const { name, fault } of single) {
    const db = openEntry(name)
    const [body] = fault.bodies
    const [before, after] = rows(
      db,
      `SELECT total_e AS e FROM EnergyRecord WHERE body_id = ${body}
      AND frame_id IN (${fault.first_frame - 1}, ${fault.first_frame}) ORDER BY frame_id`,
    )
    const [{ mass } = {}] = rows(db, `SELECT mass FROM AssetInertialStaticRecord WHERE body_id = ${body}`)
    // Apart from the fault, only a semi-implicit step in free fall loses energy.
    const natural = 0.5 * (mass ?? 0) * (9.81 * 0.01) ** 2
    const gained = (after?.e ?? 0) - (before?.e ?? 0)
    t.ok(Math.abs(gained - fault.magnitude) <= natural + 1e-9, `${name}: ${gained} ${fault.magnitude}`)
    db.close()
  }
})

test('a tunnelling body passes an obstacle without any contact', async (t) => {
  const found = faulty.filter(({ fault }) => fault.kind === 'tunnelling')
  for (const { name, fault } of found) {
    const db = openEntry(name)
    const [body, other] = fault.bodies
    const at = (id: number | undefined, frame: number) =>
      states(db).find((state) => state.body_id === id && state.frame_id === frame)?.position ?? {
        x: 0,
        y: 0,
        z: 0,
      }
    // In the only scene without a second body, the top of the platform is at z = 0 and the platform is 4 cm thick.
    const side = (frame: number) => {
      const [here, there] = [at(body, frame), other === undefined ? undefined : at(other, frame)]
      return there ? there.x - here.x : here.z
    }
    t.ok(side(fault.first_frame - 1) > 0.07, `${name}: position before ${side(fault.first_frame - 1)}`)
    t.ok(side(fault.first_frame) < -0.07, `${name}: position after ${side(fault.first_frame)}`)
    t.same(rows(db, `SELECT id FROM CollisionResultRecord WHERE ${body} IN (body_a_id, body_b_id)`), [], name)
    db.close()
  }
})

test('jittering and creeping bodies move only in the frames of their fault, and only creeping ones change position', async (t) => {
  const found = faulty.filter(({ fault }) => fault.kind === 'jitter' || fault.kind === 'creep')
  t.equal(found.length, 4)
  for (const { name, fault } of found) {
    const db = openEntry(name)
    const own = states(db).filter(({ body_id }) => body_id === fault.bodies[0])
    for (const { frame_id, velocity } of own) {
      const isFaulty = frame_id >= fault.first_frame && frame_id <= fault.last_frame
      const speed = norm({ ...velocity, z: 0 })
      t.ok(Math.abs(speed - (isFaulty ? fault.magnitude : 0)) < 1e-4, `${name} frame ${frame_id}: ${speed}`)
    }
    const position = (frame: number) => own[frame - 1]?.position ?? { x: 0, y: 0, z: 0 }
    const [from, to] = [position(fault.first_frame - 1), position(fault.last_frame)]
    const moved = Math.hypot(to.x - from.x, to.y - from.y)
    const frames = fault.last_frame - fault.first_frame + 1
    const expected = fault.kind === 'creep' ? frames * fault.magnitude * 0.004 : 0
    t.ok(Math.abs(moved - expected) < 1e-4, `${name}: moved ${moved} m`)
    db.close()
  }
})

test('two runs of a pair are equal before the frame in which they diverge, and differ in it', async (t) => {
  const pairs = recordings.filter(({ diverges_at, name }) => diverges_at !== undefined && name.endsWith('_a'))
  t.equal(pairs.length, 5)
  for (const { name, pair, diverges_at = 0 } of pairs) {
    const [a, b] = [name, pair ?? ''].map((one) => readFrames(one))
    const ids = [...(a?.keys() ?? [])].sort((x, y) => x - y)
    const first = ids.find((id) => a?.get(id) !== b?.get(id))
    t.equal(first, diverges_at, name)
  }
})

/** Returns all states, contacts and impulses of each frame as text that preserves every bit. */
function readFrames(name: string): Map<number, string> {
  const db = openEntry(name)
  const found = new Map<number, string>()
  const contacts = rows(
    db,
    'SELECT frame_id, penetration_depth, restitution, pre_impact_rel_vel_normal FROM ContactConstraintRecord',
  )
  const energies = rows(db, 'SELECT frame_id, total_e FROM EnergyRecord ORDER BY id')
  for (const row of [...states(db), ...contacts, ...energies, ...frictionRows(db)]) {
    const frame = row.frame_id as number
    found.set(frame, `${found.get(frame) ?? ''}${JSON.stringify(row)}`)
  }
  db.close()
  return found
}

test('two engines move the bodies of a scene to the same positions', async (t) => {
  const pairs = recordings.filter(({ engine, pair }) => engine === 'rapier' && pair !== undefined)
  t.equal(pairs.length, 4)
  for (const { name, pair } of pairs) {
    const last = (one: string) => {
      const db = openEntry(one)
      const all = states(db)
      const final = all.filter(({ frame_id }) => frame_id === all.at(-1)?.frame_id)
      db.close()
      return final
    }
    const other = last(pair ?? '')
    last(name).forEach(({ body_id, position }, i) => {
      const there = other[i]?.position ?? { x: 0, y: 0, z: 0 }
      const apart = norm({ x: position.x - there.x, y: position.y - there.y, z: position.z - there.z })
      t.ok(apart < 0.02, `${name}, body ${body_id}: ${apart} m apart`)
    })
  }
})

test('recordings of rapier contain no impulses', async (t) => {
  for (const { name, engine } of recordings) {
    if (engine !== 'rapier') continue
    const db = openEntry(name)
    t.same(rows(db, 'SELECT COUNT(*) AS n FROM FrictionConstraintRecord'), [{ n: 0 }], name)
    t.ok((rows(db, 'SELECT COUNT(*) AS n FROM AssetDynamicStateRecord')[0]?.n ?? 0) > 0)
    db.close()
  }
})

test('the hinge of the pendulum is an external force and conserves energy', async (t) => {
  const db = openEntry('clean_pendulum')
  t.same(rows(db, 'SELECT COUNT(*) AS n FROM ExternalForceRecord'), [{ n: 250 }])
  const energies = rows(db, 'SELECT total_system_e AS e FROM SystemEnergyRecord').map(({ e }) => e ?? 0)
  t.ok(Math.max(...energies) - Math.min(...energies) < 1e-6)
  const swing = states(db).map(({ position }) => position.x)
  t.ok(
    Math.abs(Math.min(...swing) + 0.4 * Math.sin(Math.PI / 3)) < 1e-3,
    'reaches the same angle on the other side',
  )
  db.close()
})

test('clean_upstream_rest has -g dt at rest like recordings of the original engine', async (t) => {
  const db = openEntry('clean_upstream_rest')
  const last = states(db).filter(({ frame_id }) => frame_id === 150)
  for (const { velocity } of last) t.ok(Math.abs(velocity.z + 9.81 * 0.008) < 1e-9)
  db.close()
})

test('a skidding ball ends up rolling with 5/7 of its speed, and a cradle transfers all of it', async (t) => {
  const last = (name: string) => {
    const db = openEntry(name)
    const all = states(db)
    db.close()
    return all.filter(({ frame_id }) => frame_id === all.at(-1)?.frame_id)
  }
  const [rolling] = last('clean_rolling_sphere')
  t.ok(Math.abs((rolling?.velocity.x ?? 0) - (5 / 7) * 2) < 1e-9)
  t.ok(Math.abs((rolling?.angular_velocity.y ?? 0) * 0.2 - (5 / 7) * 2) < 1e-9, 'without slipping')
  const speeds = last('clean_cradle').map(({ velocity }) => velocity.x)
  t.same(
    speeds.map((speed) => Math.round(speed * 1e9) / 1e9),
    [0, 0, 0, 0, 2],
  )
})

test('a freely spinning body flips and conserves its energy', async (t) => {
  const db = openEntry('clean_free_spin')
  const energies = rows(db, 'SELECT rotational_ke AS e FROM EnergyRecord').map(({ e }) => e ?? 0)
  t.ok(Math.max(...energies) / Math.min(...energies) - 1 < 1e-9)
  const middle = states(db).map(({ angular_velocity }) => angular_velocity.y)
  t.ok(Math.min(...middle) < -5 && Math.max(...middle) > 5, 'spins both ways about the middle axis')
  db.close()
})

test('the same generator scripts produce the same numbers again', async (t) => {
  const engines = await loadEngines()
  const dir = t.testdir()
  const names = ['clean_settling', 'clean_cradle', 'clean_pendulum', 'engine_drop_rapier', 'jitter', 'hitch']
  for (const spec of catalogue.filter(({ name }) => names.includes(name))) {
    const path = join(dir, `${spec.name}.db`)
    writeRun(path, spec.run(engines))
    t.equal(contentHash(path), recordings.find(({ name }) => name === spec.name)?.sha256, spec.name)
  }
})

test('random scenes violate no law without a fault, and with one only its law in its frames', async (t) => {
  const engines = await loadEngines()
  const seeds = range(1, 24)
  for (const seed of seeds) {
    const clean = await randomScene(seed, engines)
    const copy = openCopy(clean.path)
    t.same(brokenFrames(audit(copy, noise)), [], `scene ${seed}: ${clean.about}`)
    copy.close()
    const { path, fault } = await randomFault(seed, engines)
    if (!fault) throw new Error(`seed ${seed} has no fault`)
    const db = openCopy(path)
    expectFault(t, `fault ${seed}`, fault, audit(db, noise))
    db.close()
  }
})
