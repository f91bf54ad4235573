import { verifies } from '../../../test/verifies.ts'
import toolvault from '../src/index.ts'
import { collection, feature, listFeatures, openVault, track } from './vault-kit.ts'

const point = (id: string | number | undefined, at: readonly number[], properties = {}) =>
  feature(id, 'Point', at, { dataType: 'reference-point', ...properties })

verifies('toolvault:tools', async (t) => {
  const original: Readonly<Record<string, readonly string[]>> = {
    delete_features: ['features'],
    toggle_first_feature_color: ['feature_collection'],
    fit_to_selection: ['features', 'padding'],
    select_all_visible: ['feature_collection', 'viewport_state'],
    select_feature_start_time: ['features', 'current_time_state'],
    word_count: ['text'],
    track_speed_filter: ['track_feature', 'min_speed'],
    track_speed_filter_fast: ['track_feature', 'min_speed'],
    viewport_grid_generator: ['viewport_state', 'lat_interval', 'lon_interval'],
  }
  for (const [name, args] of Object.entries(original)) {
    const tool = toolvault.tools.find((one) => one.name === name)
    const properties = Object.keys((tool?.inputSchema.properties ?? {}) as object)
    t.ok(
      args.every((argument) => properties.includes(argument)),
      name,
    )
    t.equal(tool?.aliases.bare[0], name, 'lists the tool under its name')
    t.ok(tool?.aliases.bare.includes(`toolvault_${name}`))
  }
})

verifies('toolvault:delete', async (t) => {
  const { command, client } = await openVault(t)
  t.same(await command('delete_features', { features: [point('a', [0, 0]), point(0, [0, 0])] }), {
    command: 'deleteFeatures',
    payload: ['a', '0'],
  })
  t.same(await command('delete_features', { ids: ['a', 7, 'a'] }), {
    command: 'deleteFeatures',
    payload: ['a', '7'],
  })
  t.same(await command('delete_features', { features: [] }), { command: 'deleteFeatures', payload: [] })
  t.match(await command('delete_features', { features: [point(undefined, [0, 0], { name: 'Rock' })] }), {
    command: 'composite',
    payload: [{ payload: [] }, { command: 'showText', payload: /without an id.*Rock/ }],
  })
  await t.rejects(client.call('delete_features', {}), {
    code: 'FEATURES_NEEDED',
    data: { argument: 'features' },
  })
})

verifies('toolvault:toggle', async (t) => {
  const { command, client } = await openVault(t)
  const toggleAndRead = async (given: ReturnType<typeof feature>) => {
    const [changed] = listFeatures(
      await command('toggle_first_feature_color', { feature_collection: collection(given) }),
    )
    return changed?.properties
  }
  t.match(
    await toggleAndRead(point('p', [0, 0])),
    { marker_color: '#FF0000' },
    'treats a missing colour as blue',
  )
  t.match(await toggleAndRead(point('p', [0, 0], { marker_color: 'RED' })), { marker_color: '#0000FF' })
  t.match(
    await toggleAndRead(
      feature('b', 'MultiPoint', [[0, 0]], { dataType: 'buoyfield', 'marker-color': '#f00' }),
    ),
    {
      'marker-color': '#0000FF',
    },
  )
  t.match(await toggleAndRead(feature('z', 'Polygon', [], { dataType: 'zone', fill: '#ff0000' })), {
    fill: '#0000FF',
  })
  t.match(
    await toggleAndRead(feature('n', 'Polygon', [], { dataType: 'annotation', extra: { kept: [1] } })),
    {
      color: '#FF0000',
      extra: { kept: [1] },
    },
  )
  const call = (...features: readonly unknown[]) =>
    client.call('toggle_first_feature_color', { feature_collection: collection(...features) })
  await t.rejects(call(point(undefined, [0, 0])), { code: 'FEATURE_UNUSABLE' })
  await t.rejects(call(), { code: 'FEATURES_NEEDED' })
})

verifies('toolvault:fit', async (t) => {
  const { command } = await openVault(t)
  const bounds = async (features: readonly unknown[], padding?: number) => {
    const { payload } = await command('fit_to_selection', {
      features,
      ...(padding === undefined ? {} : { padding }),
    })
    return (payload as { bounds: number[] }).bounds
  }
  const near = (found: readonly number[], wanted: readonly number[]) =>
    t.ok(
      wanted.every((value, index) => Math.abs(value - (found[index] ?? Number.NaN)) < 1e-9),
      `${found}`,
    )
  const mixed = [
    point('p', [0, 51]),
    track('t', [
      [-1, 50],
      [2, 52],
    ]),
    feature('a', 'Polygon', [
      [
        [0, 51],
        [1, 51],
        [1, 53],
        [0, 51],
      ],
    ]),
  ]
  near(await bounds(mixed), [-1.3, 49.7, 2.3, 53.3])
  near(await bounds([point('p', [1, 50])], 0.1), [0.9994, 49.9994, 1.0006, 50.0006])
  near(
    await bounds(
      [
        track('t', [
          [179.9, 0],
          [-179.9, 1],
        ]),
      ],
      0,
    ),
    [179.9, 0, 180.1, 1],
  )
  near(await bounds([point('a', [170, 0]), point('b', [-170, 1])], 0), [170, 0, 190, 1])
})

verifies('toolvault:visible', async (t) => {
  const { command } = await openVault(t)
  const selected = async (bounds: readonly number[], ...features: readonly unknown[]) => {
    const { payload } = await command('select_all_visible', {
      feature_collection: collection(...features),
      viewport_state: { bounds },
    })
    return (payload as { selectedIds: string[] }).selectedIds
  }
  const diagonal = track('diagonal', [
    [0, 0],
    [10, 10],
  ])
  t.same(await selected([6, 0, 9, 3], diagonal), [], 'excludes a feature of which only the bounds overlap')
  t.same(
    await selected([10, 10, 12, 12], diagonal),
    ['diagonal'],
    'includes a feature that touches the viewport',
  )
  const crossing = track('crossing', [
    [179, 0],
    [-179, 0],
  ])
  t.same(
    await selected([170, -5, -170, 5], crossing),
    ['crossing'],
    'accepts a viewport across the antimeridian',
  )
  t.same(await selected([-179.9, -5, -179.5, 5], crossing), ['crossing'])
  t.same(await selected([-10, -5, 10, 5], crossing), [], 'does not extend around the earth')
  const hole = feature('ring', 'Polygon', [
    [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 9],
      [0, 0],
    ],
    [
      [3, 3],
      [6, 3],
      [6, 6],
      [3, 6],
      [3, 3],
    ],
  ])
  t.same(await selected([4, 4, 5, 5], hole), [], 'excludes a feature inside a hole')
  t.same(await selected([1, 1, 2, 2], hole), ['ring'], 'includes a feature inside the area')
  const metadata = point('m', [1, 1], { dataType: 'metadata' })
  t.same(await selected([0, 0, 2, 2], metadata, point(7, [1, 1])), ['7'])
  t.match(
    await command('select_all_visible', {
      feature_collection: collection(point('a', [1, 1]), point(undefined, [1, 1])),
      viewport_state: { bounds: [0, 0, 2, 2] },
    }),
    { command: 'composite', payload: [{ payload: { selectedIds: ['a'] } }, { command: 'showText' }] },
  )
})

verifies('toolvault:start-time', async (t) => {
  const { command, client } = await openVault(t)
  const state = {
    current: '2024-01-01T10:00:00Z',
    start: '2024-01-01T08:00:00Z',
    end: '2024-01-01T12:00:00Z',
  }
  const call = (features: readonly unknown[]) => ({ features, current_time_state: state })
  const later = track(
    'later',
    [
      [0, 0],
      [1, 1],
    ],
    { start: '2024-01-01T13:00:00Z' },
  )
  t.same((await command('select_feature_start_time', call([later]))).payload, {
    current: '2024-01-01T13:00:00Z',
    start: '2024-01-01T08:00:00Z',
    end: '2024-01-01T13:00:00Z',
  })
  const timed = point('p', [0, 0], { time: '2024-01-01T09:15:00' })
  t.match((await command('select_feature_start_time', call([later, timed]))).payload, {
    current: '2024-01-01T09:15:00Z',
    start: state.start,
    end: state.end,
  })
  await t.rejects(client.call('select_feature_start_time', call([point('p', [0, 0])])), {
    code: 'NO_TIME_DATA',
  })
})

verifies('toolvault:grid', async (t) => {
  const { command, client } = await openVault(t)
  const grid = async (bounds: readonly number[], lat_interval: number, lon_interval: number) => {
    const [made] = listFeatures(
      await command('viewport_grid_generator', { viewport_state: { bounds }, lat_interval, lon_interval }),
    )
    return { id: made?.id, points: made?.geometry?.coordinates as number[][] }
  }
  t.equal((await grid([-1, -1, 1, 1], 0.25, 0.4)).points.length, 54)
  const london = await grid([-0.2, 51.4, 0.1, 51.6], 0.05, 0.05)
  t.equal(london.points.length, 35)
  const [lon = 0, lat = 0] = london.points.at(-1) ?? []
  t.ok(Math.abs(lon - 0.1) < 1e-12 && Math.abs(lat - 51.6) < 1e-12)
  t.ok(
    (await grid([179, 0, -179, 1], 1, 0.5)).points.every(([one = 999]) => Math.abs(one) <= 180),
    'normalizes longitudes',
  )
  await t.rejects(
    client.call('viewport_grid_generator', {
      viewport_state: { bounds: [0, 0, 100, 100] },
      lat_interval: 1,
      lon_interval: 1,
    }),
    { code: 'GRID_TOO_LARGE', data: { points: 10_201, most: 10_000 } },
  )
})

verifies('toolvault:grid', 'two calls create different ids', async (t) => {
  let runs = 0
  const { command } = await openVault(t, {}, () => `run${++runs}`)
  const args = { viewport_state: { bounds: [0, 0, 1, 1] }, lat_interval: 1, lon_interval: 1 }
  const ids = [
    ...listFeatures(await command('viewport_grid_generator', args)),
    ...listFeatures(await command('viewport_grid_generator', args)),
  ].map(({ id }) => id)
  t.equal(new Set(ids).size, 2)
})

verifies('toolvault:speed', async (t) => {
  const { command, data, client } = await openVault(t)
  // At 17.3 knots, fixes are 36.923 seconds apart.
  const fast = track(
    'fast',
    Array.from({ length: 20 }, (_, i) => [-5 + 0.003649 * i, 36]),
    { stepS: 36.923 },
  )
  const derived = await data('track_speed_filter', { track_feature: fast, min_speed: 15 })
  t.equal(derived.count, 19)
  t.match(derived.timestamps[0], /^2024-01-01T00:00:36\.923/)
  t.same(derived.shape, [19, 1])
  t.ok(derived.values.every((speed: number) => Math.abs(speed - 17.3) < 0.05))
  t.match(
    await command('track_speed_filter', { track_feature: fast, min_speed: 15, assumeIntervalSeconds: 60 }),
    { command: 'showText' },
    'finds no fast fix with the assumed interval, like the original server',
  )
  const high = track(
    'high',
    Array.from({ length: 4 }, (_, i) => [0.1 * i, 51]),
  )
  const parity = await data('track_speed_filter', { track_feature: high, assumeIntervalSeconds: 60 })
  t.equal(parity.count, 3)
  t.ok(Math.abs(parity.values[0] - 226.7) < 1, 'computes the speed of the original server on the ellipsoid')
  const still = track('still', [
    [0, 51],
    [0, 51],
  ])
  t.match(await command('track_speed_filter', { track_feature: still, min_speed: 5 }), {
    command: 'showText',
  })
  const { timestamps: _, ...bare } = still.properties
  await t.rejects(client.call('track_speed_filter', { track_feature: { ...still, properties: bare } }), {
    code: 'NO_TIME_DATA',
  })
  const short = { ...still, properties: { ...still.properties, timestamps: ['2024-01-01T00:00:00Z'] } }
  await t.rejects(client.call('track_speed_filter', { track_feature: short }), {
    code: 'FEATURE_UNUSABLE',
    message: /1 timestamps for 2 vertices/,
  })
  const back = {
    ...still,
    properties: { ...still.properties, timestamps: ['2024-01-01T00:01:00Z', '2024-01-01T00:00:00Z'] },
  }
  await t.rejects(client.call('track_speed_filter', { track_feature: back }), {
    code: 'FEATURE_UNUSABLE',
    message: /back in time at vertex 1/,
  })
})

verifies('toolvault:speed:recorded', async (t) => {
  const { command, data, client } = await openVault(t)
  const recorded = track(
    'recorded',
    Array.from({ length: 4 }, (_, i) => [0.1 * i, 51]),
    { start: '2024-01-01T14:00:00Z', speeds: [25.5, 18.2, 12.8, 22.1] },
  )
  const found = await data('track_speed_filter_fast', { track_feature: recorded, min_speed: 15 })
  t.same(found.timestamps, ['2024-01-01T14:00:00Z', '2024-01-01T14:01:00Z', '2024-01-01T14:03:00Z'])
  t.equal(found.method, 'recorded speeds')
  t.match(await command('track_speed_filter_fast', { track_feature: recorded, min_speed: 30 }), {
    command: 'showText',
  })
  const { speeds: _, ...bare }: Record<string, unknown> = recorded.properties
  await t.rejects(
    client.call('track_speed_filter_fast', { track_feature: { ...recorded, properties: bare } }),
    {
      code: 'FEATURE_UNUSABLE',
    },
  )
})

verifies('toolvault:features', async (t) => {
  const { client } = await openVault(t)
  const wrong = [
    feature('carrot', 'Carrot', []),
    point('nan', [0, Number.NaN]),
    point('pole', [0, 91]),
    { type: 'feature' },
    feature('flat', 'LineString', [0, 1]),
  ]
  await t.rejects(client.call('fit_to_selection', { features: [point('fine', [0, 0]), ...wrong] }), {
    code: 'INVALID_ARGUMENTS',
    data: {
      total: 5,
      problems: [{ index: 1, id: 'carrot' }, { index: 2 }, { index: 3 }, { index: 4 }, { index: 5 }],
    },
  })
})
