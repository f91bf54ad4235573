import { homedir } from 'node:os'
import { join } from 'node:path'
import { findConfigFolder, thisMachine } from '@causeway/protocol'

export type ConfigScope = 'project' | 'user'

export interface ConfigLocation {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly platform?: NodeJS.Platform
  readonly home?: string
}

export interface Client {
  readonly title: string
  readonly format: 'json' | 'toml'
  readonly key: 'mcpServers' | 'servers' | 'context_servers' | 'mcp_servers'
  readonly comments: boolean
  readonly hasType: boolean
  /** `undefined` for a scope without a file. */
  readonly file: (scope: ConfigScope, location: ConfigLocation) => string | undefined
  readonly next: Readonly<Record<ConfigScope, string>>
}

const json = { format: 'json', key: 'mcpServers', comments: true, hasType: false } as const

export const clients: Readonly<Record<string, Client>> = {
  // https://code.claude.com/docs/en/mcp
  'claude-code': {
    ...json,
    title: 'Claude Code',
    comments: false,
    hasType: true,
    file: (scope, { cwd, env, home = homedir() }) =>
      scope === 'project' ? join(cwd, '.mcp.json') : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    next: {
      project: 'start claude in this folder and approve the server; /mcp shows it',
      user: 'start claude anywhere; /mcp shows it',
    },
  },
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers
  'claude-desktop': {
    ...json,
    title: 'Claude Desktop',
    comments: false,
    file: userOnly((location) => join(appFolder(location), 'Claude', 'claude_desktop_config.json')),
    next: always('quit and restart Claude Desktop'),
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    ...json,
    title: 'VS Code',
    key: 'servers',
    hasType: true,
    file: (scope, location) =>
      scope === 'project'
        ? join(location.cwd, '.vscode', 'mcp.json')
        : join(appFolder(location), 'Code', 'User', 'mcp.json'),
    next: {
      project: 'open this folder, and start causeway from MCP: List Servers',
      user: 'start causeway from MCP: List Servers',
    },
  },
  // https://cursor.com/docs/mcp
  cursor: {
    ...json,
    title: 'Cursor',
    hasType: true,
    file: inFolder('.cursor', 'mcp.json'),
    next: {
      project: 'open this folder, and enable causeway in the MCP settings',
      user: 'enable causeway in the MCP settings',
    },
  },
  // https://developers.openai.com/codex/mcp
  codex: {
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    comments: true,
    hasType: false,
    file: (scope, { cwd, env, home = homedir() }) =>
      scope === 'project'
        ? join(cwd, '.codex', 'config.toml')
        : join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    next: { project: 'trust this folder and start codex; /mcp shows it', user: 'start codex; /mcp shows it' },
  },
  // https://geminicli.com/docs/tools/mcp-server
  gemini: {
    ...json,
    title: 'Gemini CLI',
    file: inFolder('.gemini', 'settings.json'),
    next: always('start gemini; /mcp shows it'),
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: {
    ...json,
    title: 'Windsurf',
    file: userOnly(({ home = homedir() }) => join(home, '.codeium', 'windsurf', 'mcp_config.json')),
    next: always('refresh the MCP servers of Cascade'),
  },
  // https://zed.dev/docs/ai/mcp
  zed: {
    ...json,
    title: 'Zed',
    key: 'context_servers',
    file: (scope, location) =>
      scope === 'project'
        ? join(location.cwd, '.zed', 'settings.json')
        : join(zedFolder(location), 'settings.json'),
    next: always('the agent panel lists causeway in its settings'),
  },
}

function userOnly(file: (location: ConfigLocation) => string): Client['file'] {
  return (scope, location) => (scope === 'user' ? file(location) : undefined)
}

function inFolder(folder: string, name: string): Client['file'] {
  return (scope, { cwd, home = homedir() }) => join(scope === 'project' ? cwd : home, folder, name)
}

function always(text: string): Client['next'] {
  return { project: text, user: text }
}

const appFolder = ({ env, ...other }: ConfigLocation): string =>
  findConfigFolder({ ...thisMachine(env), ...other })

/** Zed uses `~/.config` on macOS too. */
const zedFolder = (location: ConfigLocation): string =>
  (location.platform ?? process.platform) === 'win32'
    ? join(appFolder(location), 'Zed')
    : join(appFolder({ ...location, platform: 'linux' }), 'zed')
