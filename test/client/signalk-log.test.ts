import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listFeatures, openVault } from '../../packages/app-toolvault/test/vault-kit.ts'
import { samplePath } from '../downloads/samples.mjs'
import { verifies } from '../verifies.ts'

t.setTimeout(300_000)

verifies('toolvault:import:signalk', async (t) => {
  if (process.env.CAUSEWAY_CLIENT_CACHE === undefined) {
    t.pass('plaka.log', { skip: 'set CAUSEWAY_CLIENT_CACHE, and run: node test/downloads/samples.mjs' })
    return
  }
  const log = samplePath('plaka', process.env)
  if (log === undefined) {
    t.fail('plaka.log is not there; run: node test/downloads/samples.mjs')
    return
  }
  const { folder, command, client, data } = await openVault(t)
  copyFileSync(log, join(folder, 'plaka.log'))
  await t.rejects(client.call('import_nmea', { path: 'plaka.log' }), { code: 'DATE_NEEDED' })
  const args = { path: 'plaka.log', date: '2014-08-15', name: 'Plaka' }
  const [track, ...more] = listFeatures(await command('import_nmea', args))
  t.equal(more.length, 0)
  const times = (track?.properties.timestamps ?? []) as string[]
  t.equal(times.length, 7250)
  t.match([times[0], times.at(-1)], [/^2014-08-15T09:55:59/, /^2014-08-15T14:03:24/])
  t.same(times, [...new Set(times)].sort())
  const places = (track?.geometry?.coordinates ?? []) as [number, number][]
  t.ok(places.every(([lon, lat]) => lon > 23.32 && lon < 23.55 && lat > 59.85 && lat < 60.09))
  const { tracks } = await data('track_stats', { tracks: [track] })
  t.ok(tracks[0].max_speed_kn < 40)
  t.equal((await data('import_nmea', args)).lines, 116_000)
})
