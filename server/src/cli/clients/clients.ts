import { homedir } from 'node:os'
import { join } from 'node:path'

export type ConfigScope = 'project' | 'user'

interface ConfigLocation {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly platform?: NodeJS.Platform
  readonly home?: string
}

export interface Client {
  readonly title: string
  readonly key: 'mcpServers' | 'servers'
  /** Whether the file may have comments. */
  readonly comments: boolean
  readonly file: (scope: ConfigScope, location: ConfigLocation) => string
  readonly next: Readonly<Record<ConfigScope, string>>
}

/** Clients by the argument of `causeway init`. */
export const clients: Readonly<Record<string, Client>> = {
  // https://code.claude.com/docs/en/mcp: .mcp.json of the project, top level of ~/.claude.json for the user
  claude: {
    title: 'Claude Code',
    key: 'mcpServers',
    comments: false,
    file: (scope, { cwd, env, home = homedir() }) =>
      scope === 'project' ? join(cwd, '.mcp.json') : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    next: {
      project: 'start claude in this folder and approve the server; /mcp shows it',
      user: 'start claude anywhere; /mcp shows it',
    },
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    title: 'VS Code',
    key: 'servers',
    comments: true,
    file: (scope, location) =>
      scope === 'project'
        ? join(location.cwd, '.vscode', 'mcp.json')
        : join(vscodeProfileFolder(location), 'mcp.json'),
    next: {
      project: 'open this folder, and start causeway from MCP: List Servers',
      user: 'start causeway from MCP: List Servers',
    },
  },
  // https://cursor.com/docs/mcp
  cursor: {
    title: 'Cursor',
    key: 'mcpServers',
    comments: true,
    file: (scope, { cwd, home = homedir() }) => join(scope === 'project' ? cwd : home, '.cursor', 'mcp.json'),
    next: {
      project: 'open this folder, and enable causeway in the MCP settings',
      user: 'enable causeway in the MCP settings',
    },
  },
}

function vscodeProfileFolder({ env, platform = process.platform, home = homedir() }: ConfigLocation): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User')
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Code', 'User')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'Code', 'User')
}
