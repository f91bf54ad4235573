import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import geographic from 'geographiclib-geodesic'
import { type Test, test } from 'tap'
import { cached, hashFolders } from '../fixtures/generate/generated/cache.ts'
import { contentHash } from '../fixtures/generate/manifest.ts'
import { plotFiles } from '../fixtures/generate/plots/plot-files.ts'
import { frictionRows, manifest, open, readExpected, recordings, rows, states } from './fixture-rows.ts'
import { inCI } from './tier.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const files = manifest.files.filter(({ era }) => era !== null)
const current = files.filter(({ era }) => era === 'current')
const whole = current.filter(({ name }) => name !== 'killed_writer.db')
const framed = [
  'EnergyRecord',
  'SystemEnergyRecord',
  'CollisionResultRecord',
  'SolverDiagnosticRecord',
  'AssetDynamicStateRecord',
  'ContactConstraintRecord',
  'FrictionConstraintRecord',
]

/** Relative tolerance for numbers that went through other arithmetic than the file. */
const near = (t: Test, found: number | null, wanted: number | null, message: string) => {
  if (found === null || wanted === null) return t.equal(found, wanted, message)
  return t.ok(
    Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)),
    `${message}: ${found} ${wanted}`,
  )
}

test('manifest: lists every file of the folder with its size and the hash of its content', async (t) => {
  const databases = readdirSync(recordings).filter((name) => name.endsWith('.db'))
  t.same(manifest.files.map(({ name }) => name).sort(), databases.sort())
  for (const { name, bytes, sha256 } of manifest.files) {
    t.equal(statSync(join(recordings, name)).size, bytes, `size of ${name}`)
    t.equal(contentHash(join(recordings, name)), sha256, `content of ${name}`)
    t.ok(bytes < 600_000, `${name} is small`)
  }
  for (const { name } of files)
    t.ok(statSync(join(recordings, name.replace('.db', '.expected.json'))).size < 40_000, name)
})

test('readme: has a row for every file', async (t) => {
  const text = readFileSync(join(recordings, 'README.md'), 'utf8')
  const named = [...text.matchAll(/^\| `([^`]+\.db)` \|/gm)].map(([, name]) => name)
  t.same(named.sort(), manifest.files.map(({ name }) => name).sort())
})

verifies(
  'recording:fixtures:reproducible',
  inCI(async (t) => {
    const script = join(import.meta.dirname, '..', 'fixtures', 'generate', 'main.ts')
    const args = ['--conditions=@causeway/source', script, '--check']
    const { stdout } = await promisify(execFile)(process.execPath, args)
    t.match(stdout, /equal what the generators make/)
  }),
)

test('schema: a current recording has the tables of the recorder, in its order and nothing else', async (t) => {
  const text = readFileSync(join(recordings, 'schema.sql'), 'utf8')
  const ddl = text.split('\n').flatMap((line) => (line.startsWith('CREATE') ? [line.replace(/;$/, '')] : []))
  for (const { name } of current) {
    const db = open(name)
    const found = rows<{ sql: string }>(db, 'SELECT sql FROM sqlite_schema ORDER BY rowid').map(
      ({ sql }) => sql,
    )
    t.same(found, name === 'drop.db' ? ddl : ddl.slice(2), name)
    t.equal(db.pragma('page_size', { simple: true }), 4096)
    t.equal(db.pragma('user_version', { simple: true }), 0)
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
    db.close()
    const header = readFileSync(join(recordings, name)).subarray(18, 20)
    t.same([...header], [1, 1], `${name} has a rollback journal`)
  }
})

test('recorder: rows have the habits of the C++ recorder', async (t) => {
  for (const { name } of whole) {
    const db = open(name)
    const count = readExpected(name).frames.count
    const ids = rows(db, 'SELECT id, wall_clock_time FROM SimulationFrameRecord ORDER BY id')
    t.same(
      ids.map(({ id }) => id),
      Array.from({ length: count }, (_, i) => i + 1),
      `${name}: frames from 1`,
    )
    t.same(rows(db, 'SELECT id FROM InertialStateRecord WHERE body_id <> 0 OR frame_id <> 0'), [], name)
    for (const table of ['SystemEnergyRecord', 'SolverDiagnosticRecord'])
      t.same(rows(db, `SELECT COUNT(*) AS n FROM ${table}`), [{ n: count }], `${name}: ${table} per frame`)
    t.same(
      rows(
        db,
        'SELECT id FROM SolverDiagnosticRecord WHERE num_contacts = 0 AND (converged + iterations) > 0',
      ),
      [],
      `${name}: no contact, all zero`,
    )
    t.same(rows(db, 'SELECT id FROM CollisionResultRecord WHERE body_a_id >= 2147483648'), [], name)
    t.same(rows(db, 'SELECT id FROM AssetPhysicalStaticRecord WHERE is_environment <> 0'), [], name)
    const [first] = rows(db, 'SELECT delta_e, total_system_e FROM SystemEnergyRecord WHERE frame_id = 1')
    t.equal(first?.delta_e, first?.total_system_e, `${name}: the first change is the whole energy`)
    db.close()
  }
})

test('recorder: contact points, contact constraints and friction have the same order', async (t) => {
  const db = open('stack.db')
  const points = rows(
    db,
    `SELECT c.frame_id, c.body_a_id, c.body_b_id, p.depth FROM CollisionResultRecord_ContactPointRecord l
    JOIN CollisionResultRecord c ON c.id = l.CollisionResultRecord_id
    JOIN ContactPointRecord p ON p.id = l.ContactPointRecord_id ORDER BY c.frame_id, l.rowid`,
  )
  const constraints = rows(
    db,
    'SELECT frame_id, body_a_id, body_b_id, penetration_depth AS depth FROM ContactConstraintRecord ORDER BY id',
  )
  t.same(points, constraints)
  t.same(
    frictionRows(db).map(({ frame_id, body_a_id, body_b_id }) => ({ frame_id, body_a_id, body_b_id })),
    constraints.map(({ depth: _, ...pair }) => pair),
  )
  db.close()
})

test('sidecars match the results of plain SQL', async (t) => {
  for (const { name } of current) {
    const expected = readExpected(name)
    const db = open(name)
    const last = expected.frames.last_id
    const inside = `frame_id BETWEEN 1 AND ${last}`
    const energies = rows(db, `SELECT total_system_e AS e, delta_e FROM SystemEnergyRecord WHERE ${inside}`)
    near(t, energies[0]?.e ?? null, expected.system_energy.first, `${name}: first energy`)
    near(t, energies.at(-1)?.e ?? null, expected.system_energy.last, `${name}: last energy`)
    for (const [limit, { count }] of Object.entries<{ count: number }>(expected.anomalies))
      t.equal(energies.filter((row) => Math.abs(row.delta_e ?? 0) > Number(limit)).length, count, name)
    const ignored = framed.flatMap((table) => {
      const [row] = rows(db, `SELECT COUNT(*) AS n FROM ${table} WHERE frame_id > ${last}`)
      return row?.n ? [[table, row.n]] : []
    })
    t.same(Object.fromEntries(ignored), expected.ignored_rows, `${name}: rows behind the last frame`)
    const [allStates, allFriction] = [states(db), frictionRows(db)]
    for (const frame of expected.sample_frames) {
      const found = allStates.filter(({ frame_id }) => frame_id === frame.frame_id)
      t.equal(found.length, frame.states.length)
      found.forEach(({ angular_velocity, frame_id: _, ...state }, i) => {
        const { angular_velocity: spin, acceleration: __, ...wanted } = frame.states[i]
        t.same(state, wanted, `${name} frame ${frame.frame_id}: state`)
        for (const axis of ['x', 'y', 'z'] as const)
          if (spin[axis] !== null)
            near(t, angular_velocity[axis], spin[axis], 'spin by the formula of the reader')
      })
      const friction = allFriction.filter(({ frame_id }) => frame_id === frame.frame_id)
      t.same(
        friction.map(({ frame_id: _, ...row }) => row),
        frame.friction_constraints,
        `${name} frame ${frame.frame_id}: friction`,
      )
      const [solver] = rows(db, `SELECT * FROM SolverDiagnosticRecord WHERE frame_id = ${frame.frame_id}`)
      const { id: _, frame_id: __, ...numbers } = solver ?? {}
      t.same({ ...numbers, converged: numbers.converged === 1 }, frame.solver)
    }
    db.close()
  }
})

test('eras: each older file lacks what its era lacks, and has rows of the rest', async (t) => {
  const columns = (name: string, table: string) => {
    const db = open(name)
    const found = rows<{ name: string }>(db, `PRAGMA table_info(${table})`).map((column) => column.name)
    const n = found.length > 0 ? rows(db, `SELECT COUNT(*) AS n FROM ${table}`)[0]?.n : undefined
    db.close()
    return { found, n }
  }
  const frames = columns('era_states_only.db', 'SimulationFrameRecord').n
  t.equal(frames, 45)
  t.match(columns('era_states_only.db', 'InertialStateRecord').found, /frame_id/)
  t.same(columns('era_states_only.db', 'SolverDiagnosticRecord').found, [])
  t.ok(Number(columns('era_flat_contacts.db', 'ContactRecord').n) > 0)
  t.ok(Number(columns('era_flat_contacts.db', 'BodyMetadataRecord').n) > 0)
  t.equal(columns('era_flat_contacts.db', 'AppliedForceRecord').n, 2 * 45)
  t.ok(Number(columns('era_no_constraints.db', 'CollisionResultRecord').n) > 0)
  t.equal(columns('era_no_constraints.db', 'AssetPhysicalStaticRecord').n, 0)
  t.same(columns('era_no_constraints.db', 'ContactConstraintRecord').found, [])
  const friction = columns('era_no_tangents.db', 'FrictionConstraintRecord')
  t.ok(Number(friction.n) > 0)
  t.notOk(friction.found.includes('tangent1_lambda'))
  t.ok(Number(columns('era_unified.db', 'UnifiedContactConstraintRecord').n) > 0)
  t.same(columns('era_unified.db', 'FrictionConstraintRecord').found, [])
})

test('eras: sidecars match the results of plain SQL', async (t) => {
  const older = files.filter(({ era }) => era !== 'current')
  t.equal(older.length, 5)
  const impulses: Record<string, string> = {
    'era_no_tangents.db': 'normal_lambda, NULL AS t1, NULL AS t2 FROM FrictionConstraintRecord',
    'era_unified.db':
      'normal_lambda, tangent1_lambda AS t1, tangent2_lambda AS t2 FROM UnifiedContactConstraintRecord',
  }
  for (const { name, era } of older) {
    const expected = readExpected(name)
    const db = open(name)
    const own =
      era === 'inertial' || era === 'flat-contact'
        ? 'InertialStateRecord s WHERE s.frame_id'
        : 'AssetDynamicStateRecord d JOIN InertialStateRecord s ON s.id = d.kinematicState_id WHERE d.frame_id'
    const states = db.prepare(
      `SELECT x, y, z FROM (SELECT s.id, s.position_id FROM ${own} = ?) s
      JOIN CoordinateRecord p ON p.id = s.position_id ORDER BY s.id`,
    )
    for (const frame of expected.sample_frames) {
      const id = frame.frame_id
      t.same(
        states.all(id),
        frame.states.map((state: { position: unknown }) => state.position),
        `${name} frame ${id}: positions`,
      )
      t.same(
        rows(db, `SELECT body_id FROM EnergyRecord WHERE frame_id = ${id} ORDER BY id`),
        frame.states.map(({ body_id }: { body_id: number }) => ({ body_id })),
        `${name} frame ${id}: bodies in the order of their energies`,
      )
      const [system] = rows(
        db,
        `SELECT total_system_e, delta_e FROM SystemEnergyRecord WHERE frame_id = ${id}`,
      )
      t.same(system, { total_system_e: frame.total_system_e, delta_e: frame.delta_e })
      const table = impulses[name]
      const found = table ? rows(db, `SELECT ${table} WHERE frame_id = ${id} ORDER BY id`) : []
      t.same(
        found,
        frame.friction_constraints.map((row: Record<string, number>) => ({
          normal_lambda: row.normal_lambda,
          t1: row.tangent1_lambda,
          t2: row.tangent2_lambda,
        })),
        `${name} frame ${id}: impulses`,
      )
    }
    db.close()
  }
})

test('odd files: are what their names say', async (t) => {
  t.equal(readFileSync(join(recordings, 'empty.db')).length, 0)
  t.throws(() => rows(open('not_a_database.db'), 'SELECT 1 FROM sqlite_schema'), { code: 'SQLITE_NOTADB' })
  const tables = (name: string) =>
    rows<{ name: string }>(open(name), 'SELECT name FROM sqlite_schema').map((table) => table.name)
  t.same(tables('asset_database.db'), ['MeshRecord', 'ObjectRecord'])
  t.equal(tables('zero_frames.db').length, 25)
  t.same(rows(open('zero_frames.db'), 'SELECT * FROM SimulationFrameRecord'), [])
})

const cacheModule = join(import.meta.dirname, '..', 'fixtures', 'generate', 'generated', 'cache.ts')

/** A process that asks for a cached folder; `making` is what it does to make it. */
function asker(root: string, making: string): ChildProcess {
  const script = `import { cached } from ${JSON.stringify(cacheModule)}
    import { appendFileSync, writeFileSync } from 'node:fs'
    await cached(${JSON.stringify(root)}, 'key', async (folder) => { ${making} })
    console.log('done')`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('cache: of several processes and calls at once one makes the folder', async (t) => {
  const root = t.testdir({ log: '' })
  const log = join(root, 'log')
  const cache = join(root, 'cache')
  const note = `appendFileSync(${JSON.stringify(log)}, 'made\\n'); writeFileSync(folder + '/file', 'whole')`
  const others = [asker(cache, note), asker(cache, note)]
  const exits = others.map((child) => once(child, 'exit'))
  const make = async (folder: string) => {
    writeFileSync(log, `${readFileSync(log, 'utf8')}made\n`)
    writeFileSync(join(folder, 'file'), 'whole')
  }
  const folders = await Promise.all([cached(cache, 'key', make), cached(cache, 'key', make)])
  for (const [code] of await Promise.all(exits)) t.equal(code, 0)
  t.equal(readFileSync(log, 'utf8'), 'made\n')
  for (const folder of folders) t.equal(readFileSync(join(folder, 'file'), 'utf8'), 'whole')
})

test('cache: a process that dies while it makes the folder leaves the way free', async (t) => {
  const root = join(t.testdir(), 'cache')
  const child = asker(
    root,
    `writeFileSync(folder + '/half', ''); console.log('half'); await new Promise(() => setInterval(() => {}, 1000))`,
  )
  t.teardown(() => child.kill('SIGKILL'))
  if (child.stdout) await once(child.stdout, 'data')
  t.notOk(existsSync(join(root, 'key')), 'half a folder is not seen')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const folder = await cached(root, 'key', async (target) => writeFileSync(join(target, 'file'), 'whole'))
  t.same(readdirSync(folder), ['file'])
})

test('cache: a folder that could not be made is made again by the next, and other keys go', async (t) => {
  const root = join(t.testdir(), 'cache')
  await t.rejects(
    cached(root, 'old', async () => {
      throw new Error('disk full')
    }),
    { message: 'disk full' },
  )
  const make = async (folder: string) => writeFileSync(join(folder, 'file'), '')
  const old = await cached(root, 'old', make)
  await cached(root, 'new', make)
  t.notOk(existsSync(old))
  t.ok(existsSync(join(root, 'new', 'file')))
})

test('cache: the key follows the scripts and what else is given', async (t) => {
  const dir = t.testdir({ 'a.ts': 'one', deep: { 'b.ts': 'two' } })
  const first = hashFolders([dir], '1.0.0')
  t.equal(hashFolders([dir], '1.0.0'), first)
  t.not(hashFolders([dir], '1.0.1'), first)
  writeFileSync(join(dir, 'deep', 'b.ts'), 'three')
  t.not(hashFolders([dir], '1.0.0'), first)
})

const folder = join(repository, 'fixtures/plots')
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const earth = geographic.Geodesic.WGS84

const track = (plot: string, id: string): { coordinates: number[][]; times: number[] } => {
  const { geometry, properties } = read(plot).features.find((feature: { id: string }) => feature.id === id)
  return { coordinates: geometry.coordinates, times: properties.timestamps.map(Date.parse) }
}
const apart = ([lonA = 0, latA = 0]: number[], [lonB = 0, latB = 0]: number[]): number =>
  earth.Inverse(latA, lonA, latB, lonB).s12 ?? Number.NaN

verifies('debrief:fixtures', async (t) => {
  const committed = readdirSync(folder).filter((name) => name.endsWith('.json'))
  t.same(committed.sort(), Object.keys(plotFiles).sort())
  for (const [name, text] of Object.entries(plotFiles))
    t.ok(readFileSync(join(folder, name), 'utf8') === text, name)
})

verifies('debrief:fixtures', 'jumps and gaps stand where the sidecars say', async (t) => {
  for (const [name, id] of [
    ['antimeridian', 'dateline'],
    ['high-latitude', 'arctic'],
  ] as const) {
    const { coordinates, times } = track(`${name}.plot.json`, id)
    const truth = read(`${name}.truth.json`)[id]
    const jumped = coordinates.flatMap((place, at) => {
      const [before, after] = [coordinates[at - 1], coordinates[at + 1]]
      return before && after && apart(before, place) > 1000 && apart(place, after) > 1000 ? at : []
    })
    t.same(
      jumped,
      truth.jumps.map(({ at }: { at: number }) => at),
      `${name}: jumps`,
    )
    const silent = times.flatMap((time, at) => ((times[at + 1] ?? time) - time > 60_000 ? at : []))
    t.same(
      silent,
      truth.gaps.map(({ after }: { after: number }) => after),
      `${name}: gaps`,
    )
  }
})

verifies(
  'debrief:fixtures',
  'the two ships come as close as the sidecar says, between two fixes',
  async (t) => {
    const { cpa_m, cpa_time } = read('encounter.truth.json')
    const [a, b] = [track('encounter.plot.json', 'XA'), track('encounter.plot.json', 'XB')]
    const at = (ship: typeof a, minute: number): number[] => {
      const [from, to] = [
        ship.coordinates[Math.floor(minute)] ?? [],
        ship.coordinates[Math.ceil(minute)] ?? [],
      ]
      return from.map((value, axis) => value + ((to[axis] ?? value) - value) * (minute % 1))
    }
    let best = { minute: 0, metres: Number.POSITIVE_INFINITY }
    for (let minute = 29; minute <= 31; minute += 0.001) {
      const metres = apart(at(a, minute), at(b, minute))
      if (metres < best.metres) best = { minute, metres }
    }
    t.ok(Math.abs(best.metres - cpa_m) < 0.05, `${best.metres} m`)
    const start = a.times[0] ?? 0
    t.ok(Math.abs(start + best.minute * 60_000 - Date.parse(cpa_time)) < 200)
    t.ok(
      Math.min(...a.coordinates.map((place, index) => apart(place, b.coordinates[index] ?? []))) > cpa_m + 2,
    )
  },
)
