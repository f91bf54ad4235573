import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelContext } from '@causeway/app-kit'
import type { Feature } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { nmea, positionReport } from '../../../fixtures/generate/tracks/ais-sentence.ts'
import { verifies } from '../../../test/verifies.ts'
import { XmlDocumentParser } from '../src/domain/import/xml-document.ts'
import toolvault from '../src/index.ts'
import { listFeatures, openVault } from './vault-kit.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/tracks')
const read = (name: string): string => readFileSync(join(fixtures, name), 'utf8')
const truth = (name: string) => JSON.parse(read(`${name}.truth.json`))

const list = (feature: Feature | undefined, name: string) => (feature?.properties[name] ?? []) as unknown[]

const places = (feature: Feature | undefined) => (feature?.geometry?.coordinates ?? []) as number[][]

verifies('toolvault:import:nmea', async (t) => {
  const { command, data, client } = await openVault(t, { 'own_ship.nmea': read('own_ship.nmea') })
  const { date, lines, fixes, wrong_checksums, first, last } = truth('own_ship')
  await t.rejects(client.call('import_nmea', { path: 'own_ship.nmea' }), { code: 'DATE_NEEDED' })
  const args = { path: 'own_ship.nmea', date }
  const [track, ...more] = listFeatures(await command('import_nmea', args))
  t.equal(more.length, 0)
  const times = list(track, 'timestamps') as string[]
  t.equal(places(track).length, fixes)
  t.same([Date.parse(times[0] ?? ''), Date.parse(times.at(-1) ?? '')], [Date.parse(first), Date.parse(last)])
  t.same(times, [...new Set(times)].sort(), 'times increase over midnight')
  t.equal(list(track, 'speeds').length, fixes)
  t.match(await data('import_nmea', args), { lines, skipped: { 'wrong checksum': wrong_checksums } })
  const thinned = listFeatures(await command('import_nmea', { ...args, min_interval_s: 60 }))
  t.ok(places(thinned[0]).length < fixes / 5)
})

verifies(
  'toolvault:import:nmea',
  'import_nmea reads short longitudes and dates from RMC, and counts invalid lines',
  async (t) => {
    const { command, client } = await openVault(t)
    const text = [
      nmea('GPRMC,235959.00,A,4723.5576,N,255.8041,W,21.76,322,141106,,,A'),
      nmea('GPRMC,000001.00,A,4723.5676,N,00255.8041,W,21.76,,151106,,,A'),
      nmea('GPRMC,000002.00,V,4723.5676,N,00255.8041,W,,,151106,,,N'),
      nmea('GPGGA,000003.00,4723.5676,N,00255.8041,W,0,,,,M,,M,,'),
      nmea('GPGLL,4763.0000,N,00255.8041,W,000004.00,A'),
      nmea('GPGLL,9923.0000,N,00255.8041,W,000005.00,A'),
      'noise',
    ].join('\n')
    const command_ = await command('import_nmea', { text })
    const [track] = listFeatures(command_)
    t.same(list(track, 'timestamps'), ['2006-11-14T23:59:59Z', '2006-11-15T00:00:01Z'])
    t.ok(Math.abs((places(track)[0]?.[0] ?? 0) + 2.930068) < 1e-6, 'rejects a longitude of 255 degrees')
    t.same(list(track, 'courses'), [322, null])
    t.match(
      JSON.stringify(command_),
      /"receiver had no fix":2,"position out of range or empty":2,"not an NMEA sentence":1/,
    )
    await t.rejects(client.call('import_nmea', { text: 'nothing\nhere' }), {
      code: 'NOTHING_IMPORTED',
      data: { lines: 2, skipped: { 'not an NMEA sentence': 2 } },
    })
    await t.rejects(client.call('import_nmea', { text, date: '2024-02-30' }), { code: 'INVALID_ARGUMENTS' })
    await t.rejects(client.call('import_nmea', {}), { code: 'INVALID_ARGUMENTS', message: /path or text/ })
  },
)

verifies('toolvault:import:ais', async (t) => {
  const { command, data } = await openVault(t, { 'vessels.ais': read('vessels.ais') })
  const tracks = listFeatures(await command('import_ais', { path: 'vessels.ais' }))
  const { vessels } = truth('vessels')
  t.same(
    tracks.map((track) => ({
      mmsi: track.properties.mmsi,
      name: track.properties.name,
      fixes: places(track).length,
      without_motion: list(track, 'speeds').filter((speed) => speed === null).length,
    })),
    vessels,
  )
  for (const track of tracks) {
    t.ok(places(track).every(([lon = 999, lat = 999]) => Math.abs(lon) <= 180 && Math.abs(lat) <= 90))
    t.ok(list(track, 'courses').every((course) => course === null || (course as number) < 360))
    t.equal(list(track, 'timestamps').length, places(track).length)
  }
  const { skipped } = await data('import_ais', { path: 'vessels.ais' })
  t.ok(skipped['position not available'] > 10)
})

verifies(
  'toolvault:import:ais',
  'import_ais reads times next to sentences or derives them from seconds, and accepts interleaved parts',
  async (t) => {
    const { command, data } = await openVault(t)
    const report = (second: number, lon: number) =>
      positionReport({ mmsi: 235_000_001, lon, lat: 50, speed_kn: 5, course_deg: 90, second })
    const times = async (lines: readonly string[], more = {}) => {
      const [track] = listFeatures(await command('import_ais', { text: lines.join('\n'), ...more }))
      return list(track, 'timestamps')
    }
    const [a, b] = ['2024-01-01T00:00:50Z', '2024-01-01T00:01:10Z']
    t.same(await times([`${a} ${report(50, 1)}`, `${b} ${report(10, 1.01)}`]), [a, b])
    t.same(await times([`${report(50, 1)},1704067250`, `${report(10, 1.01)},1704067270`]), [a, b])
    t.same(await times([report(50, 1), report(10, 1.01)], { start: '2024-01-01T00:00:45Z' }), [a, b])
    t.same(await times([report(50, 1), report(10, 1.01)]), [])
    t.match(
      (await data('import_ais', { text: [report(50, 1), report(10, 1.01)].join('\n') })).summary,
      /pass start/,
    )
    // A static report of two parts, with another vessel's report in between (gpsd's documentation of AIVDM).
    const parts = [
      '!AIVDM,2,1,1,A,55?MbV02;H;s<HtKR20EHE:0@T4@Dn2222222216L961O5Gf0NSQEp6ClRp8,0*1C',
      report(1, 2),
      '!AIVDM,2,2,1,A,88888888880,2*25',
    ]
    t.match((await data('import_ais', { text: parts.join('\n') })).skipped, {}, 'skips no complete message')
  },
)

verifies('toolvault:import:rep', async (t) => {
  const { command, data } = await openVault(t, { 'boats.rep': read('boats.rep') })
  const features = listFeatures(await command('import_rep', { path: 'boats.rep' }))
  const { tracks, first } = truth('boats')
  const boats = features.filter(({ properties }) => properties.dataType === 'track')
  t.same(
    boats.map((boat) => ({ name: boat.properties.name, fixes: places(boat).length })),
    tracks,
  )
  t.equal(Date.parse(String(list(boats[0], 'timestamps')[0])), Date.parse(first), 'reads the year 95 as 1995')
  t.match(features.slice(2), [
    { geometry: { type: 'Point' }, properties: { annotationType: 'label', text: 'Rendezvous' } },
    { geometry: { type: 'Polygon' }, properties: { specifics: { shapeType: 'circle', radiusM: 1828.8 } } },
  ])
  t.match(await data('import_rep', { path: 'boats.rep' }), { skipped: { comment: 1 } })
  const line = (date: string) => `${date} 120000 "Two Words" @A 10 30 0 S 179 59 59.9 W 400 5 NaN`
  const [south] = listFeatures(await command('import_rep', { text: line('20240229') }))
  t.match(south, { properties: { name: 'Two Words', time: '2024-02-29T12:00:00Z' } })
  t.same(south?.geometry?.coordinates, [-179.999972222, -10.5], 'omits an unknown depth')
  const [recent] = listFeatures(await command('import_rep', { text: line('240229') }))
  t.match(recent?.properties.time, /^2024/)
  t.match((await data('import_rep', { text: [line('240229'), line('240230')].join('\n') })).skipped, {
    'invalid time': 1,
  })
})

verifies('toolvault:import:xml', async (t) => {
  const { command, client, data } = await openVault(t)
  const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
    <Placemark><name>Area</name><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
    <Placemark><name>Both</name><MultiGeometry><Point><coordinates>5,6</coordinates></Point><LineString><coordinates>0,0 1,1</coordinates></LineString></MultiGeometry></Placemark>
    <Placemark><name>Nowhere</name></Placemark></Document></kml>`
  t.match(listFeatures(await command('import_kml', { text: kml })), [
    { geometry: { type: 'Polygon' }, properties: { dataType: 'annotation', name: 'Area' } },
    { geometry: { type: 'Point', coordinates: [5, 6] }, properties: { dataType: 'reference-point' } },
    { geometry: { type: 'LineString' }, properties: { dataType: 'track', name: 'Both' } },
  ])
  const gpx = (inner: string) => `<gpx xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`
  const point = (lon: number, time = '') =>
    `<trkpt lat="1" lon="${lon}">${time === '' ? '' : `<time>${time}</time>`}</trkpt>`
  const segments = gpx(
    `<trk><name>Two</name><trkseg>${point(0, '2024-01-01T00:00:00Z')}${point(1, '2024-01-01T00:01:00Z')}</trkseg><trkseg>${point(2, '2024-01-01T01:00:00Z')}${point(3, '2024-01-01T01:01:00Z')}</trkseg></trk>`,
  )
  const [two] = listFeatures(await command('import_gpx', { text: segments }))
  t.equal(list(two, 'timestamps').length, 4)
  const half = gpx(`<trk><trkseg>${point(0, '2024-01-01T00:00:00Z')}${point(1)}</trkseg></trk>`)
  const [untimed] = listFeatures(await command('import_gpx', { text: half }))
  t.notOk('timestamps' in (untimed?.properties ?? {}))
  t.match((await data('import_gpx', { text: half })).skipped, {
    'times of a track without a time at every point': 1,
  })
  await t.rejects(client.call('import_gpx', { text: '<gpx><trk>' }), {
    code: 'NOTHING_IMPORTED',
    message: /well-formed/,
  })
  await t.rejects(client.call('import_gpx', { text: gpx('') }), { code: 'NOTHING_IMPORTED' })
})

verifies('toolvault:import:xml-limits', async (t) => {
  const { client } = await openVault(t)
  const gpx = (inner: string) => `<gpx xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`
  const tooLarge: Readonly<Record<string, string>> = {
    ['<a>'.repeat(65)]: 'levels of elements',
    [gpx(`<a ${Array.from({ length: 101 }, (_, index) => `b${index}="1"`).join(' ')}/>`)]:
      'attributes in one element',
    [gpx(Array.from({ length: 200 }, (_, index) => `<a${index}/>`).join(''))]: 'names of elements',
    [gpx('<wpt lat="1" lon="1"/>'.repeat(100_001))]: 'features',
    [gpx('<gpxtpx:TrackPointExtension/>'.repeat(1001))]: '<gpxtpx:TrackPointExtension> in one element',
  }
  for (const [text, what] of Object.entries(tooLarge))
    await t.rejects(client.call('import_gpx', { text }), {
      code: 'IMPORT_TOO_LARGE',
      message: new RegExp(`^the GPX document has more than \\d+ ${what}`),
    })
  const malformed: Readonly<Record<string, RegExp>> = {
    '<!DOCTYPE gpx [<!ENTITY a "aaaa">]><gpx>&a;</gpx>': /document type declarations are not accepted$/,
    [gpx('<trk><trk/></trk>')]: /<trk> contains another <trk>$/,
    [gpx('<trk><name>a</trk>')]: /unexpected close tag/,
  }
  for (const [text, message] of Object.entries(malformed))
    await t.rejects(client.call('import_gpx', { text }), { code: 'NOTHING_IMPORTED', message })
})

verifies(
  'toolvault:import:xml-limits',
  'the XML parser stops at the element that exceeds a limit',
  async (t) => {
    const parser = new XmlDocumentParser('GPX')
    parser.write('<a>'.repeat(64))
    t.throws(() => parser.write('<a>'), { code: 'IMPORT_TOO_LARGE', data: { max: 64 } })
  },
)

verifies('toolvault:import:xml-limits', 'indentation does not count as a node', async (t) => {
  const point = '\n   <trkpt>\n    <ele>1</ele>\n    <time>2024-01-01T00:00:00Z</time>\n   </trkpt>'
  const parser = new XmlDocumentParser('GPX', { maxNodes: 3 + 5 * 2 })
  parser.write(`<gpx>\n <trk>\n  <trkseg>${point.repeat(2)}\n`)
  t.throws(() => parser.write(point), {
    code: 'IMPORT_TOO_LARGE',
    message: 'the GPX document has more than 13 elements and texts',
  })
})

t.test('the XML parser preserves white space in a name', async (t) => {
  const parser = new XmlDocumentParser('GPX')
  parser.write('<gpx> <trk> <name><b>A</b> <i>B</i></name> </trk> </gpx>')
  t.equal(parser.close().textContent, 'A B')
})

t.test('white space between coordinates is collapsed', async (t) => {
  const parser = new XmlDocumentParser('KML')
  parser.write(`<coordinates>1,2${' '.repeat(1000)}<!-- -->${'\n'.repeat(1000)}3,4</coordinates>`)
  t.equal(parser.close().getElementsByTagName('coordinates')[0]?.textContent, '1,2 3,4')
})

verifies('toolvault:import:roots', async (t) => {
  const { client, folder } = await openVault(t, { 'inside.rep': read('boats.rep') })
  const outside = join(folder, '..', 'outside.rep')
  writeFileSync(outside, read('boats.rep'))
  symlinkSync(outside, join(folder, 'link.rep'))
  for (const path of [outside, '../outside.rep', 'link.rep'])
    await t.rejects(client.call('import_rep', { path }), {
      code: 'OUTSIDE_ROOTS',
      data: { setting: 'CAUSEWAY_PLOT_ROOTS' },
    })
  execFileSync('mkfifo', [join(folder, 'pipe.rep')])
  for (const path of ['absent.rep', '.', 'pipe.rep', `${'x'.repeat(300)}.rep`])
    await t.rejects(client.call('import_rep', { path }), { code: 'FILE_NOT_FOUND' }, path)
  await t.resolves(client.call('import_rep', { path: 'inside.rep' }))
})

/** Creates the context of a route. Its tool calls go to the app itself, or fail with `failure`. */
async function context(t: Test, failure?: unknown) {
  const { app, client } = await openVault(t)
  const logged: unknown[] = []
  const call: ChannelContext['call'] = (tool, args) =>
    failure === undefined ? client.call(tool, args) : Promise.reject(failure)
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) }
  return { ctx: { store: app.store, log, call } as unknown as ChannelContext, logged, client }
}

const route = (method: string, path: string) => {
  const found = toolvault.routes.find((one) => one.method === method && one.path === path)
  if (found === undefined) throw new Error(`no route ${path}`)
  return found
}

const post = (body: string) => new Request('http://localhost/tools/call', { method: 'POST', body })

verifies(
  'toolvault:rest',
  'the call route accepts arguments as pairs or objects and rejects others',
  async (t) => {
    const { ctx } = await context(t)
    const { handle } = route('POST', '/tools/call')
    const wanted = { result: { command: 'showText', payload: 'Word count: 1' }, isError: false }
    for (const args of [{ text: 'x' }, [{ name: 'text', value: 'x' }]]) {
      const answer = await handle(post(JSON.stringify({ name: 'word_count', arguments: args })), {}, ctx)
      t.same(await answer.json(), wanted)
    }
    for (const [body, status] of [
      ['not json', 400],
      ['{}', 400],
      ['{"name": "sink_ship"}', 404],
      ['{"name": "word_count"}', 400],
    ] as const) {
      const answer = await handle(post(body), {}, ctx)
      t.equal(answer.status, status, body)
      t.match(await answer.json(), { isError: true, error: String, details: String })
    }
  },
)

verifies(
  'toolvault:rest:errors',
  'an internal error is logged with its stack and returned without it',
  async (t) => {
    const { ctx, logged } = await context(t, new TypeError('secret at /home/user'))
    const answer = await route('POST', '/tools/call').handle(post('{"name": "word_count"}'), {}, ctx)
    t.equal(answer.status, 500)
    const text = await answer.text()
    t.match(JSON.parse(text), { isError: true, code: 'INTERNAL' })
    t.notMatch(text, /secret|home/)
    t.equal(logged.length, 1)
    const busy = await context(t, new CausewayError('CANCELLED', 'the call was cancelled'))
    await route('POST', '/tools/call').handle(post('{"name": "word_count"}'), {}, busy.ctx)
    t.same(busy.logged, [], 'does not log errors of the client')
  },
)

verifies('toolvault:index', 'routes and resources describe each tool', async (t) => {
  const { ctx, client } = await context(t)
  const get = async (path: string, variables = {}) =>
    (await route('GET', path).handle(new Request('http://localhost/'), variables, ctx)).json()
  const index = (await get('/index.json')) as { root: { children: { name: string }[] }[] }
  const names = index.root.flatMap(({ children }) => children.map(({ name }) => name))
  const { tools } = (await client.call('list_tools')) as { tools: { name: string }[] }
  t.same(names.sort(), tools.map(({ name }) => name).sort())
  t.match(await get('/tools/list'), { tools: { length: names.length } })
  t.match(await get('/api/tools/{tool}', { tool: 'cpa_tcpa' }), { tool_name: 'cpa_tcpa', reads_file: false })
  t.match(await get('/api/tools/{tool}/samples/{file}', { tool: 'word_count', file: 'empty.json' }), {
    input: { text: '' },
  })
  await t.rejects(get('/api/tools/{tool}/samples/{file}', { tool: 'word_count', file: '../x' }), {
    code: 'ROUTE_NOT_FOUND',
    data: { samples: ['two-words.json', 'empty.json', 'spaced.json'] },
  })
  const contents = await client.read('toolvault://tools/import_rep')
  t.match('text' in contents ? JSON.parse(contents.text) : {}, { reads_file: true, samples: Array })
  await t.rejects(client.read('toolvault://tools/sink_ship'), { code: 'RESOURCE_NOT_FOUND' })
  t.match(await client.call('list_tools', { category: 'text' }), { tools: [{ name: 'word_count' }] })
  await t.rejects(client.call('list_tools', { category: 'sinking' }), { code: 'INVALID_ARGUMENTS' })
})

t.test('tool names in resource URIs are completed', async (t) => {
  const { ctx } = await context(t)
  const family = toolvault.resources.find(({ template }) => template.variables.length > 0)
  t.ok((await family?.complete('tool', {}, ctx))?.includes('range_bearing'))
})
