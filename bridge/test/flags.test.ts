import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readFlags } from '../src/flags.ts'
import { type Option, options } from '../src/options.ts'
import { readSettings, type Settings } from '../src/settings.ts'
import { usage } from '../src/usage.ts'

verifies('bridge:help', 'usage: every flag and its variable stands under a heading', async (t) => {
  for (const [name, { env, group }] of Object.entries<Option>(options)) {
    t.match(usage, new RegExp(`^  (-\\w, )?--${name}\\b`, 'm'))
    t.match(usage, `\n${group}:\n`)
    if (env !== undefined) t.match(usage, `[${env}]`)
  }
  t.same(
    usage.split('\n').filter((line) => line.length > 104),
    [],
    'it fits a terminal',
  )
})

verifies('bridge:setting:flag', async (t) => {
  const remedy = (arg: string): unknown => {
    try {
      readSettings([arg], {})
    } catch (error) {
      return (error as { remedy: unknown }).remedy
    }
    return undefined
  }
  t.match(remedy('--tokenfile=x'), /did you mean --token-file\?/)
  t.match(remedy('--docter'), /did you mean --doctor\?/)
  t.match(remedy('--colour'), /^see --help$/)
  t.match(remedy('-x'), /see --help/)
})

t.test(
  'readFlags: the flag wins over the variable, and lists divide at commas only in the variable',
  async (t) => {
    const env = {
      CAUSEWAY_ONLY: 'a , b',
      CAUSEWAY_STATS: 'TRUE',
      CAUSEWAY_OFFLINE_LIST: 'no',
      CAUSEWAY_APP: ' x ',
    }
    const flags = readFlags(['--header', 'A: 1, 2', '--header', 'B: 3', '--url', ''], env)
    t.same(flags.all('header'), ['A: 1, 2', 'B: 3'])
    t.same(flags.all('only'), ['a', 'b'])
    t.equal(flags.isOn('stats'), true)
    t.equal(flags.isOn('offline-list'), false)
    t.equal(flags.text('app'), 'x')
    t.equal(flags.text('url'), undefined, 'set to nothing is not set')
    t.same(readFlags(['--only', 'c'], env).all('only'), ['c'])
  },
)

t.test('readSettings: globs divide at commas wherever they come from', async (t) => {
  const { tools } = readSettings(['--only', 'a,b', '--only', 'c'], {}) as Settings
  t.same(tools, { only: ['a', 'b', 'c'], ignore: [] })
})
