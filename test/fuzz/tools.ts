/** The tools of every app, with the values that their arguments have in examples. */
import { documented } from '../../scripts/docs/makers.ts'
import type { FuzzTool } from './tool-input.ts'

/** All tools; `made` are further values by the name of an argument, such as ids of what was made for the run. */
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
