/** Resolves the engines that the gallery installs to those that `node test/downloads/samples.mjs` fetched. For `node --import`. */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { samplePath } from '../downloads/samples.mjs'

const paths = new Map([
  ['cannon-es', samplePath('cannon', process.env)],
  ['planck', samplePath('planck', process.env)],
])

registerHooks({
  resolve(specifier, context, next) {
    const path = paths.get(specifier)
    if (path === undefined) return next(specifier, context)
    return { url: pathToFileURL(path).href, format: 'module', shortCircuit: true }
  },
})
