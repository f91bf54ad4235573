import { cycles } from './cycles.ts'
import { codeOnly } from './source.ts'
import { packageName, type Source, sources, type Texts, target } from './tree.ts'
import { unusedExports } from './unused-export.ts'

/** A rule returns one line, `path: problem`, for each violation. */
type Rule = (all: readonly Source[], texts: Texts) => string[]

/** The workspace packages that each package may import. Apps may also import `appImports`; the server these and every app. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  store: ['protocol'],
  'app-kit': ['protocol'],
  worker: ['protocol'],
  recording: ['protocol', 'store', 'worker'],
  embed: ['protocol', 'store', 'worker'],
  picture: ['protocol', 'worker'],
  plot: ['protocol', 'app-kit'],
  oauth: ['protocol'],
  gateway: ['protocol', 'store', 'app-kit', 'oauth'],
  bridge: ['protocol', 'oauth'],
  console: ['protocol'],
  'app-replay': ['recording', 'picture'],
  'app-help': ['embed'],
  'app-minds': ['embed'],
  'app-debrief': ['picture', 'plot'],
  'app-toolvault': ['plot'],
}
const appImports = ['protocol', 'app-kit', 'store', 'worker']
const serverImports = [...appImports, 'gateway', 'oauth']

const maxLines = 400
const forbiddenNames = /^(utils?|helpers?|common|misc|managers?|shared)$/
const impure =
  /(?<![.\w$])(await|async|Date|performance|process|crypto|console|fetch|setTimeout|setInterval|setImmediate|queueMicrotask)(?![\w$]|\??:)|Math\.random/
const impureModules = /^(node:|better-sqlite3$|fastify|undici|pino|@causeway\/store$)/

const arrowRule: Rule = (all) =>
  each(all, ({ owner, imports }) =>
    imports
      .filter(({ from }) => from.startsWith('@causeway/'))
      .map((one) => packageName(one).slice('@causeway/'.length))
      .filter((name) => !mayImport(owner, name))
      .map((name) => `${owner} must not import ${name}`),
  )

/** Whether a workspace package may import another; names are without the scope: `app-replay`, `server`. */
export function mayImport(owner: string, name: string): boolean {
  if (arrows[owner]?.includes(name)) return true
  if (owner === 'server') return isApp(name) || serverImports.includes(name)
  return isApp(owner) && appImports.includes(name)
}

/** Whether a package is an app, such as `app-replay`. `app-kit` is not an app. */
export const isApp = (name: string): boolean => name.startsWith('app-') && name !== 'app-kit'

const relativeRule: Rule = (all) =>
  each(all, ({ path, folder, imports }) =>
    imports
      .filter((one) => target(path, one)?.startsWith(`${folder}/`) === false)
      .map(({ from }) => `${from} leaves the package; import it by name`),
  )

const declaredRule: Rule = (all, texts) =>
  each(all, ({ folder, owner, imports }) => {
    const manifest = JSON.parse(texts.get(`${folder}/package.json`) ?? '{}')
    const bundled = owner === 'bridge' || owner === 'console' ? manifest.devDependencies : {}
    const declared = {
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.optionalDependencies,
      ...bundled,
    }
    return imports
      .filter(({ from }) => !from.startsWith('.') && !from.startsWith('node:'))
      .filter((one) => !(packageName(one) in declared))
      .filter((one) => !one.isType)
      .map((one) => `${packageName(one)} is not a dependency in ${folder}/package.json`)
  })

const fastifyRule: Rule = (all) =>
  each(all, ({ path, imports }) =>
    imports
      .filter(({ from }) => /^(fastify|@fastify\/)/.test(from) && !path.startsWith('server/src/http/'))
      .map(() => 'Fastify belongs in server/src/http only'),
  )

const httpRule: Rule = (all) =>
  each(all, ({ imports }) =>
    imports
      .filter(({ from, isType }) => from === 'node:http' && !isType)
      .map(() => 'an import of node:http loads undici of Node; use nodeHttp() of @causeway/protocol'),
  )

const bridgeRule: Rule = (all) =>
  each(all, ({ owner, imports }) =>
    imports
      .filter(() => owner === 'bridge')
      .filter(
        ({ from }) => !/^(\.|node:|@causeway\/(oauth|protocol)$|undici\/lib\/(dispatcher|core)\/)/.test(from),
      )
      .filter((one) => !(one.isType && packageName(one) === 'undici'))
      .map(({ from }) => `the bridge must not import ${from}`),
  )

const purityRule: Rule = (all) =>
  each(all, ({ path, text, imports }) => {
    if (!path.includes('/domain/')) return []
    const word = impure.exec(codeOnly(text))?.[0]
    return [
      ...(word === undefined ? [] : [`${word} in a domain folder`]),
      ...imports
        .filter(({ from }) => impureModules.test(from))
        .map(({ from }) => `${from} in a domain folder`),
      ...imports
        .filter((one) => !one.isType && !isPure(target(path, one)))
        .map(({ from }) => `${from} leads out of the domain folder`),
    ]
  })

/** Whether a domain folder may import a file of its package: other domain files, and the declarations of errors. */
const isPure = (file: string | undefined): boolean =>
  file === undefined || file.includes('/domain/') || file.endsWith('/src/errors.ts')

const cycleRule: Rule = (all) => {
  const known = new Set(all.map(({ path }) => path))
  const edges = all.map(({ path, imports }) => {
    const targets = imports
      .map((one) => target(path, one))
      .filter((file) => file !== undefined && known.has(file))
    return [path, targets as string[]] as const
  })
  return cycles(new Map(edges)).map((loop) => `${loop[0]}: cycle ${loop.join(' -> ')}`)
}

const stateRule: Rule = (all) =>
  each(all, ({ text }) =>
    /^(export )?(let|var)\s/m.test(codeOnly(text)) ? ['mutable module state (let at the top level)'] : [],
  )

const sizeRule: Rule = (_all, texts) =>
  code(texts)
    .map(([path, text]) => [path, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines > maxLines)
    .map(([path, lines]) => `${path}: ${lines} lines, more than ${maxLines}`)

const nameRule: Rule = (_all, texts) =>
  code(texts).flatMap(([path]) =>
    path
      .split('/')
      .map((part) => part.replace(/\..*$/, ''))
      .filter((part) => forbiddenNames.test(part))
      .map((part) => `${path}: "${part}" names no concept`),
  )

/**
 * Nothing depends on folders outside the checkout. The rule searches every file for the folder as a relative path. `.ci/run` may use it;
 * it builds the path from parts.
 */
const outsideRule: Rule = (_all, texts) =>
  [...texts]
    .filter(([path, text]) => path !== '.ci/run' && text.includes(['..', 'shared'].join('/')))
    .map(([path]) => `${path}: names a folder outside the checkout`)

const exportRule: Rule = (_all, texts) => unusedExports(texts)

const rules: readonly Rule[] = [
  arrowRule,
  relativeRule,
  declaredRule,
  fastifyRule,
  httpRule,
  bridgeRule,
  purityRule,
  cycleRule,
  stateRule,
  sizeRule,
  nameRule,
  outsideRule,
  exportRule,
]

/** Returns all violations of the architecture in a repository, sorted, each as `path: problem`. */
export function violations(texts: Texts): string[] {
  const all = sources(texts)
  return rules.flatMap((rule) => rule(all, texts)).sort()
}

function each(all: readonly Source[], wrong: (source: Source) => string[]): string[] {
  return all.flatMap((source) => wrong(source).map((message) => `${source.path}: ${message}`))
}

/** Returns source files: packages, scripts, tests and examples. */
function code(texts: Texts): [string, string][] {
  return [...texts].filter(([path]) => /\.(tsx?|mts|js|mjs)$/.test(path))
}
