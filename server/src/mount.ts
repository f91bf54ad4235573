/** Where tools are served, and under which names. */
import type { App, AppTool } from '@causeway/app-kit'
import { type Prompt, type Tool, wireName } from '@causeway/protocol'
import type { Mount } from './core.ts'

/** The mount of every app, under wire names. */
export const sharedMount: Mount = Object.freeze({ path: '/mcp' })

/** The mount of one app, under bare names. */
export const bareMount = (appPath: string): Mount => ({ path: `/mcp/${appPath}`, app: appPath })

/** The name under which a mount lists a tool: a bare mount prefers the first bare alias. */
const listedName = (mount: Mount, app: App, tool: AppTool): string =>
  mount.app === undefined ? wireName(app.name, tool.name) : (tool.aliases.bare[0] ?? tool.name)

/** Every name by which a mount's callers may call a tool. */
export const callableNames = (mount: Mount, app: App, tool: AppTool): readonly string[] =>
  mount.app === undefined
    ? [wireName(app.name, tool.name), ...tool.aliases.full]
    : [tool.name, ...tool.aliases.bare]

/** A tool as a mount's `tools/list` gives it. */
export const listedTool = (mount: Mount, app: App, tool: AppTool): Tool => ({
  name: listedName(mount, app, tool),
  description: tool.about,
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
  annotations: tool.annotations,
})

/** A prompt as a mount's `prompts/list` gives it. */
export const listedPrompt = (mount: Mount, app: App, prompt: App['prompts'][number]): Prompt => ({
  name: mount.app === undefined ? wireName(app.name, prompt.name) : prompt.name,
  description: prompt.about,
  arguments: prompt.arguments,
})
