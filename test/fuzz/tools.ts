/** The tools of every app, with the values of their arguments in examples. */
import { documented } from '../../scripts/docs/makers.ts'
import type { FuzzTool } from './tool-input.ts'

/** Returns all tools. `made` contains further values by argument name, such as ids of existing objects. */
export function fuzzTools(made: ReadonlyMap<string, readonly unknown[]>): readonly FuzzTool[] {
  return documented.flatMap((app) => {
    const known = new Map<string, unknown[]>()
    const note = (args: Readonly<Record<string, unknown>>): void => {
      for (const [name, value] of Object.entries(args)) known.set(name, [...(known.get(name) ?? []), value])
    }
    for (const { example } of app.tools)
      for (const { args } of [example, ...(example.before ?? [])]) note(args)
    for (const [name, values] of made) known.set(name, [...(known.get(name) ?? []), ...values])
    return app.tools.map(({ name, inputSchema, example }) => ({
      app: app.name,
      name,
      schema: inputSchema,
      example: example.args,
      known,
    }))
  })
}
