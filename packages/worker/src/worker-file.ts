import { extname } from 'node:path'

/**
 * The entry file `name` beside the module whose `import.meta.url` is given: TypeScript beside the sources, JavaScript
 * beside the build. The compiler does not rewrite such a name.
 */
export function workerFile(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${extname(new URL(moduleUrl).pathname)}`, moduleUrl)
}
