import { join } from 'node:path'
import { findConfigFolder, type Machine } from '@causeway/protocol'

export type ConfigScope = 'project' | 'user'

export interface Client {
  readonly title: string
  readonly format: 'json' | 'toml'
  readonly key: 'mcpServers' | 'servers' | 'context_servers' | 'mcp_servers'
  readonly comments: boolean
  readonly hasType: boolean
  /** Path below the project; `undefined` if the client does not read project files. */
  readonly project?: string
  readonly user: (machine: Machine) => string
  readonly next: Readonly<Record<ConfigScope, string>>
}

export function findConfigFile(
  { project, user }: Client,
  scope: ConfigScope,
  { cwd, machine }: { readonly cwd: string; readonly machine: Machine },
): string | undefined {
  if (scope === 'user') return user(machine)
  return project && join(cwd, project)
}

const json = { format: 'json', key: 'mcpServers', comments: true, hasType: false } as const

export const clients: Readonly<Record<string, Client>> = {
  // https://code.claude.com/docs/en/mcp
  'claude-code': {
    ...json,
    title: 'Claude Code',
    comments: false,
    hasType: true,
    project: '.mcp.json',
    user: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
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
    user: (machine) => join(findConfigFolder(machine), 'Claude', 'claude_desktop_config.json'),
    next: createNextSteps('quit and restart Claude Desktop'),
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    ...json,
    title: 'VS Code',
    key: 'servers',
    hasType: true,
    project: '.vscode/mcp.json',
    user: (machine) => join(findConfigFolder(machine), 'Code', 'User', 'mcp.json'),
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
    project: '.cursor/mcp.json',
    user: ({ home }) => join(home, '.cursor', 'mcp.json'),
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
    project: '.codex/config.toml',
    user: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    next: { project: 'trust this folder and start codex; /mcp shows it', user: 'start codex; /mcp shows it' },
  },
  // https://geminicli.com/docs/tools/mcp-server
  gemini: {
    ...json,
    title: 'Gemini CLI',
    project: '.gemini/settings.json',
    user: ({ home }) => join(home, '.gemini', 'settings.json'),
    next: createNextSteps('start gemini; /mcp shows it'),
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: {
    ...json,
    title: 'Windsurf',
    user: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    next: createNextSteps('refresh the MCP servers of Cascade'),
  },
  // https://zed.dev/docs/ai/mcp
  zed: {
    ...json,
    title: 'Zed',
    key: 'context_servers',
    project: '.zed/settings.json',
    user: (machine) => join(findZedFolder(machine), 'settings.json'),
    next: createNextSteps('the agent panel lists causeway in its settings'),
  },
}

function createNextSteps(text: string): Client['next'] {
  return { project: text, user: text }
}

/** Zed uses `~/.config` on macOS too. */
const findZedFolder = (machine: Machine): string =>
  machine.platform === 'win32'
    ? join(findConfigFolder(machine), 'Zed')
    : join(findConfigFolder({ ...machine, platform: 'linux' }), 'zed')
