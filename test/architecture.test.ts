import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { posix } from 'node:path'
import t from 'tap'
import { violations } from './architecture/rules.ts'
import { findImports } from './architecture/source.ts'
import { files, repository } from './tree.ts'
import { verifies } from './verifies.ts'

/** Returns the violations in a repository of these files. */
function breaches(texts: Readonly<Record<string, string>>): string[] {
  return violations(new Map(Object.entries(texts)))
}

t.test('this repository has no violations', async (t) => {
  const texts = files(repository)
    .filter((file) => !/\.(db|db-journal|db-wal|png|ttf|gz)$/.test(file))
    .map((file) => [file, readFileSync(`${repository}/${file}`, 'utf8')] as const)
  t.same(violations(new Map(texts)), [])
})

verifies('workshop:architecture:arrows', async (t) => {
  const manifest = (name: string) => JSON.stringify({ dependencies: { [`@causeway/${name}`]: '0.1.0' } })
  const pairs = [
    ['packages/app-replay', 'app-help'],
    ['packages/protocol', 'app-kit'],
    ['packages/store', 'recording'],
    ['packages/app-help', 'recording'],
    ['bridge', 'store'],
  ]
  for (const [folder = '', name = ''] of pairs) {
    const found = breaches({
      [`${folder}/package.json`]: manifest(name),
      [`${folder}/src/a.ts`]: `import type { X } from '@causeway/${name}'`,
    })
    const owner = folder.replace('packages/', '')
    t.ok(found.includes(`${folder}/src/a.ts: ${owner} must not import ${name}`), `${owner} -> ${name}`)
  }
  t.same(
    breaches({
      'server/package.json': manifest('app-replay'),
      'server/src/a.ts': `import { replay } from '@causeway/app-replay'`,
    }),
    [],
    'the server hosts apps',
  )
})

verifies('workshop:architecture:arrows', 'files of one package form no cycle', async (t) => {
  const found = breaches({
    'packages/store/src/a.ts': `import { b } from './b.ts'`,
    'packages/store/src/b.ts': `import { c } from './deep/c.ts'`,
    'packages/store/src/deep/c.ts': `export { a } from '../a.ts'`,
    'packages/store/src/d.ts': `import { a } from './a.ts'`,
  })
  const [a, b, c] = ['a', 'b', 'deep/c'].map((name) => `packages/store/src/${name}.ts`)
  t.same(found, [`${a}: cycle ${a} -> ${b} -> ${c} -> ${a}`])
})

verifies(
  'workshop:architecture:arrows',
  'no package is reached by a relative path or undeclared',
  async (t) => {
    t.same(breaches({ 'server/src/a.ts': `import { x } from '../../packages/store/src/open.ts'` }), [
      'server/src/a.ts: ../../packages/store/src/open.ts leaves the package; import it by name',
    ])
    t.same(breaches({ 'server/package.json': '{}', 'server/src/a.ts': `import pino from 'pino'` }), [
      'server/src/a.ts: pino is not a dependency in server/package.json',
    ])
  },
)

verifies('workshop:architecture:rim', async (t) => {
  const manifest = JSON.stringify({
    dependencies: { fastify: '5' },
    devDependencies: { undici: '7', zod: '4' },
  })
  const bad = breaches({
    'server/package.json': manifest,
    'server/src/host/host.ts': `import type { FastifyInstance } from 'fastify'`,
    'bridge/package.json': manifest,
    'bridge/src/a.ts': `import { Pool } from 'undici'`,
    'bridge/src/b.ts': `const { z } = await import('zod')`,
    'bridge/src/c.ts': `import { get } from 'node:http'`,
    'bridge/src/d.ts': `import type { Server } from 'node:http'`,
  })
  t.same(bad, [
    'bridge/src/a.ts: the bridge must not import undici',
    'bridge/src/b.ts: the bridge must not import zod',
    'bridge/src/c.ts: an import of node:http loads undici of Node; use nodeHttp() of @causeway/protocol',
    'server/src/host/host.ts: Fastify belongs in server/src/http only',
  ])
  const good = breaches({
    'server/package.json': manifest,
    'server/src/http/server.ts': `import fastify from 'fastify'`,
    'bridge/package.json': manifest,
    'bridge/src/a.ts': `import Pool from 'undici/lib/dispatcher/pool.js'\nimport type { Dispatcher } from 'undici'`,
  })
  t.same(good, [])
})

verifies('workshop:architecture:purity', async (t) => {
  const lines = {
    clock: ['const t = Date.now()', 'Date in a domain folder'],
    random: ['const r = Math.random()', 'Math.random in a domain folder'],
    timer: ['const p = performance.now()', 'performance in a domain folder'],
    environment: ['const e = process.env.HOME', 'process in a domain folder'],
    waiting: ['const x = async () => 1', 'async in a domain folder'],
    module: [`import { readFileSync } from 'node:fs'`, 'node:fs in a domain folder'],
    way: [`import { open } from '../store.ts'`, '../store.ts leads out of the domain folder'],
  }
  for (const [name, [line = '', message]] of Object.entries(lines)) {
    const path = 'packages/app-replay/src/domain/energy.ts'
    t.same(breaches({ [path]: line }), [`${path}: ${message}`], name)
  }
  const pure = [
    `import type { Frame } from '../frame.ts'`,
    `import { dot } from './vector.ts'`,
    '// Date and await are only mentioned here',
    `const word = 'process'`,
    'const time = frame.process + row.Date',
    'interface Row { process: string }',
  ]
  t.same(breaches({ 'packages/app-replay/src/domain/energy.ts': pure.join('\n') }), [])
})

verifies('workshop:architecture:path', async (t) => {
  const path = readPath('The path of one HTTP tool call')
  t.ok(path.length >= 8 && path.length <= 12, `${path.length} files`)
  t.match(path[0], /^server\/src\/http\//)
  t.match(path.at(-1), /^packages\/app-[a-z]+\/src\/tools\//)
  for (const [index, file] of path.entries()) {
    t.ok(readLines(file).length <= 400, `${file} has at most 400 lines`)
    const next = path[index + 1]
    if (next !== undefined && index < path.length - 2) t.ok(imports(file, next), `${file} imports ${next}`)
  }
  // A tool is a value that the server receives in an app, so it imports the file that calls it.
  const [caller = '', tool = ''] = path.slice(-2)
  t.ok(imports(tool, caller))
})

verifies('workshop:architecture:line-path', async (t) => {
  const path = readPath('The path of one line in the bridge')
  t.ok(path.length >= 6 && path.length <= 12, `${path.length} files`)
  t.match(path[0], /^bridge\/src\/stdio\//)
  t.equal(path.at(-1), 'bridge/src/http/connections.ts')
  const start = path.indexOf('bridge/src/bridge.ts')
  for (const [index, file] of path.entries()) {
    t.ok(readLines(file).length <= 400, `${file} has at most 400 lines`)
    const next = path[index + 1]
    // Lines reach the file that connects the parts by a callback, so it imports what calls it.
    if (next !== undefined && index < start) t.ok(imports(next, file), `${next} imports ${file}`)
    else if (next !== undefined) t.ok(imports(file, next), `${file} imports ${next}`)
  }
})

/** Returns the numbered files in a section of the architecture document. */
function readPath(title: string): string[] {
  const document = readFileSync(`${repository}/docs/architecture.md`, 'utf8')
  const section = document.split(/^## /m).find((text) => text.startsWith(title)) ?? ''
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map((match) => match[1] ?? '')
}

const readLines = (file: string): string[] => readFileSync(`${repository}/${file}`, 'utf8').split('\n')

const imports = (file: string, imported: string): boolean =>
  importedFiles(file, readLines(file).join('\n')).includes(imported)

/** Returns the files that a file imports; for a package, those that its index exports. */
function importedFiles(file: string, text: string): string[] {
  return findImports(text).flatMap(({ from }) => {
    if (from.startsWith('.')) return [posix.join(posix.dirname(file), from)]
    if (!from.startsWith('@causeway/')) return []
    const index = `${from.replace('@causeway', 'packages')}/src/index.ts`
    return importedFiles(index, readFileSync(`${repository}/${index}`, 'utf8'))
  })
}

verifies('workshop:architecture:size', async (t) => {
  const found = breaches({
    'packages/store/src/long.ts': 'x\n'.repeat(401),
    'packages/store/src/full.ts': 'x\n'.repeat(400),
    'packages/store/src/utils.ts': '',
    'scripts/helpers/a.mjs': '',
    'packages/store/src/state.ts': 'export let count = 0',
    'packages/store/src/local.ts': 'function f() {\n  let count = 0\n}\n/*\nlet old = 1\n*/',
    'README.md': `see ${['..', 'shared'].join('/')}/x`,
  })
  t.same(found, [
    'README.md: names a folder outside the checkout',
    'packages/store/src/long.ts: 401 lines, more than 400',
    'packages/store/src/state.ts: mutable module state (let at the top level)',
    'packages/store/src/utils.ts: "utils" names no concept',
    'scripts/helpers/a.mjs: "helpers" names no concept',
  ])
})

t.test('unused exports are reported, except those of entry points', async (t) => {
  const found = breaches({
    'packages/store/package.json': '{ "exports": { ".": { "@causeway/source": "./src/index.ts" } } }',
    'packages/store/src/index.ts': `export const open = 1\nexport { renamed as given } from './a.ts'`,
    'packages/store/src/a.ts': [
      'const kept = 1',
      'export { kept as renamed, kept as listed }',
      'export const tested = 2',
      'export async function left() {}',
      'export interface Shape {}',
      '// export const mentioned = 3',
    ].join('\n'),
    'packages/store/src/namespace.ts': 'export const one = 1',
    'packages/store/src/b.ts': `import * as all from './namespace.ts'`,
    'packages/store/test/a.test.ts': `import {\n  type Shape,\n  tested,\n} from '../src/a.ts'`,
  })
  t.same(found, [
    'packages/store/src/a.ts: no other file imports left; drop its export',
    'packages/store/src/a.ts: no other file imports listed; drop its export',
  ])
})

t.test('findImports returns every form of import and ignores comments and strings', async (t) => {
  const text = [
    `import a from 'a'`,
    `import 'side-effect'`,
    `import {\n  type B,\n  c,\n} from './c.ts'`,
    `import type { D } from '@causeway/d'`,
    `export * from './e.ts'`,
    `const f = await import('f')`,
    `// import g from 'g'`,
    `/* import h from 'h' */`,
    `const url = 'http://i' // from 'i'`,
    `export const from = 'j'`,
  ].join('\n')
  t.same(
    findImports(text).map(({ from, isType }) => (isType ? `type ${from}` : from)),
    ['a', 'side-effect', './c.ts', 'type @causeway/d', './e.ts', 'f'],
  )
})

t.test('the apps load large packages with their first use', async (t) => {
  const loaded = new Set<string>()
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      loaded.add(specifier)
      return next(specifier, context)
    },
  })
  t.teardown(() => hooks.deregister())
  await import('../server/src/apps.ts')
  t.ok(loaded.has('zod'), 'loaded packages are recorded')
  for (const name of [
    'undici',
    'acorn',
    '@lezer/python',
    'diff',
    'fast-xml-parser',
    'tap-parser',
    'smol-toml',
  ])
    t.notOk(loaded.has(name), name)
})
