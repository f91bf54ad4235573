import type { App, AppTool } from '@causeway/app-kit'
import { type Prompt, type Tool, wireName } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { getWidgetUri } from './widgets.ts'

/**
 * `/mcp` serves every app under wire names, `/mcp/<app>` one app under bare names. A view lists fewer tools, but
 * all are callable.
 */
export interface Mount {
  readonly path: '/mcp' | `/mcp/${string}`
  /** Path of a bare mount's app. */
  readonly app?: string
  /** `core`, or a profile's patterns. */
  readonly view?: 'core' | readonly string[]
}

export interface ToolEntry {
  readonly instance: AppInstance
  readonly tool: AppTool
}

type ListKind = 'tools' | 'resources' | 'prompts'

export type Change = { readonly mount: Mount; readonly list: ListKind } | { readonly uri: string }

export const sharedMount: Mount = Object.freeze({ path: '/mcp' })

export const coreMount: Mount = Object.freeze({ path: '/mcp/core', view: 'core' })

export const createProfileMount = (name: string, patterns: readonly string[]): Mount => ({
  path: `/mcp/p/${name}`,
  view: patterns,
})

export const createBareMount = (appPath: string): Mount => ({ path: `/mcp/${appPath}`, app: appPath })

export const getCallableNames = (mount: Mount, app: App, tool: AppTool): readonly string[] =>
  mount.app === undefined ? [toFullName(app, tool), ...tool.aliases.full] : [tool.name, ...tool.aliases.bare]

const toFullName = (app: App, { name, fullName }: Pick<AppTool, 'name' | 'fullName'>): string =>
  fullName ?? wireName(app.name, name)

/** On a bare mount, the name is the first bare alias, if any. */
export const toListedTool = (mount: Mount, app: App, tool: AppTool): Tool => ({
  ...tool.listed,
  name: mount.app === undefined ? toFullName(app, tool) : (tool.aliases.bare[0] ?? tool.name),
  ...(tool.title === undefined ? {} : { title: tool.title }),
  description: tool.about,
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
  annotations: tool.annotations,
  ...(tool.widget === undefined ? {} : { _meta: { ui: { resourceUri: getWidgetUri(tool.widget) } } }),
})

export const toListedPrompt = (mount: Mount, app: App, prompt: App['prompts'][number]): Prompt => ({
  ...prompt.listed,
  name: mount.app === undefined ? toFullName(app, prompt) : prompt.name,
  description: prompt.about,
  arguments: prompt.arguments,
})
