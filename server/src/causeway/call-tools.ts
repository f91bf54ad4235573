import { type AppTool, makeTool, readArguments } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'

const input = {
  name: z.string().describe('Name as find_tools returns it, such as Replay__get_frame'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Arguments of that tool'),
}

const argumentsSchema = z.strictObject(input)

const example = { name: 'Causeway__list_apps', arguments: {} }

/** Two tools, so that users can allow read-only calls without confirmation. */
export const callTools: readonly AppTool[] = [
  makeCallTool('call_read_tool', {
    about: 'Call a tool that changes nothing, by its name. Returns its result. Rejects other tools.',
    isReadOnly: true,
  }),
  makeCallTool('call_tool', {
    about: 'Call any tool by its name. Returns its result. Use call_read_tool if the tool changes nothing.',
    isReadOnly: false,
  }),
]

/** Access, limits and audit are those of the called tool. */
function makeCallTool(
  name: string,
  { about, isReadOnly }: { readonly about: string; readonly isReadOnly: boolean },
): AppTool {
  // The output schema is omitted, because the result has the named tool's schema.
  const {
    outputSchema: _,
    acceptsOutput: __,
    ...tool
  } = makeTool(name, {
    about,
    input,
    output: {},
    hints: isReadOnly ? { readOnly: true, openWorld: true } : { openWorld: true },
    unlisted: true,
    isCore: true,
    example: { args: example },
    run() {
      throw new CausewayError('INTERNAL', `${name} was not resolved to the tool that it names`)
    },
  })
  return {
    ...tool,
    forward(args) {
      const { name: target, arguments: targetArguments } = readArguments(name, argumentsSchema, args)
      return { name: target, args: targetArguments, mustBeReadOnly: isReadOnly }
    },
  }
}
