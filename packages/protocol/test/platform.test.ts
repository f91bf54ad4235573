import t from 'tap'
import {
  canSignal,
  findCacheFolder,
  findConfigFolder,
  findDataFolder,
  findStateFolder,
  getMachine,
  getOpenerCommand,
  isReadableByOthers,
  listStopSignals,
  type Machine,
  toSocketPath,
} from '../src/index.ts'

const platforms: readonly NodeJS.Platform[] = ['linux', 'darwin', 'win32']
const linux: Machine = { platform: 'linux', env: {}, home: '/home/a' }
const mac: Machine = { platform: 'darwin', env: {}, home: '/Users/a' }
const windows: Machine = { platform: 'win32', env: {}, home: 'C:\\Users\\a' }
const withEnv = (machine: Machine, env: NodeJS.ProcessEnv): Machine => ({ ...machine, env })

t.test('data, state, cache and configuration are in the standard folders of the platform', async (t) => {
  t.equal(findDataFolder(linux), '/home/a/.local/share/causeway')
  t.equal(findDataFolder(withEnv(linux, { XDG_DATA_HOME: '/data' })), '/data/causeway')
  t.equal(findDataFolder(mac), '/Users/a/Library/Application Support/causeway')
  t.equal(findDataFolder(windows), 'C:\\Users\\a\\AppData\\Local\\causeway')
  t.equal(findDataFolder(withEnv(windows, { LOCALAPPDATA: 'D:\\Local' })), 'D:\\Local\\causeway')
  t.equal(findStateFolder(linux), '/home/a/.local/state/causeway')
  t.equal(findStateFolder(withEnv(mac, { XDG_STATE_HOME: '/state' })), '/state/causeway')
  t.equal(findStateFolder(windows), 'C:\\Users\\a\\AppData\\Local\\causeway')
  t.equal(findCacheFolder(linux), '/home/a/.cache/causeway')
  t.equal(findCacheFolder(mac), '/Users/a/Library/Caches/causeway')
  t.equal(findCacheFolder(windows), 'C:\\Users\\a\\AppData\\Local\\causeway')
  t.equal(findConfigFolder(linux), '/home/a/.config')
  t.equal(findConfigFolder(mac), '/Users/a/Library/Application Support')
  t.equal(findConfigFolder(withEnv(windows, { APPDATA: 'D:\\Roaming' })), 'D:\\Roaming')
  t.match(getMachine({ HOME: '/x' }), { platform: process.platform, env: { HOME: '/x' } })
})

t.test('isReadableByOthers checks the mode of a file, except on Windows', async (t) => {
  for (const mode of [0o640, 0o604, 0o755])
    t.same(
      platforms.map((platform) => isReadableByOthers(mode, platform)),
      [true, true, false],
    )
  for (const platform of platforms) t.equal(isReadableByOthers(0o100600, platform), false)
})

t.test('getOpenerCommand returns a command that opens a URL or file without a shell', async (t) => {
  for (const target of ['https://h/a?x=1&y="$(z)"', '/a b.png', 'C:\\a & b.png'])
    t.same(
      platforms.map((platform) => getOpenerCommand(target, platform)),
      [
        ['xdg-open', target],
        ['open', target],
        ['rundll32', 'url.dll,FileProtocolHandler', target],
      ],
    )
})

t.test(
  'listStopSignals also contains SIGBREAK and SIGHUP on Windows, where canSignal is false',
  async (t) => {
    t.same(platforms.map(listStopSignals), [
      ['SIGTERM', 'SIGINT'],
      ['SIGTERM', 'SIGINT'],
      ['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'],
    ])
    t.same(platforms.map(canSignal), [true, true, false], 'on Windows a signal would kill the other process')
  },
)

t.test('toSocketPath accepts absolute paths, and named pipes on Windows', async (t) => {
  t.equal(toSocketPath('/run/a.sock', 'linux'), '/run/a.sock')
  t.equal(toSocketPath('run/a.sock', 'darwin'), undefined)
  t.equal(toSocketPath('//./pipe/causeway', 'win32'), '\\\\.\\pipe\\causeway')
  t.equal(toSocketPath('\\\\?\\pipe\\causeway', 'win32'), '\\\\?\\pipe\\causeway')
  for (const path of ['/run/a.sock', 'C:\\a.sock', '//./pipe/', '//server/pipe/a'])
    t.equal(toSocketPath(path, 'win32'), undefined, path)
})
