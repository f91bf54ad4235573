/** The clients that `causeway init` knows: where each keeps its configuration, and in which form. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where a configuration counts: in one folder, or for the user everywhere. */
export type Scope = 'project' | 'user'

/** Where the command runs. */
export interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly platform?: NodeJS.Platform
  readonly home?: string
}

/** A client. */
export interface Client {
  readonly title: string
  /** The member of the file that holds the servers. */
  readonly key: 'mcpServers' | 'servers'
  /** It reads comments and trailing commas. */
  readonly comments: boolean
  readonly file: (scope: Scope, place: Place) => string
  /** What is left for the person to do. */
  readonly next: Readonly<Record<Scope, string>>
}

/** By the word that `causeway init` takes. */
export const clients: Readonly<Record<string, Client>> = {
  // https://code.claude.com/docs/en/mcp: .mcp.json in the project, the top of ~/.claude.json for the user
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
    file: (scope, place) =>
      scope === 'project' ? join(place.cwd, '.vscode', 'mcp.json') : join(vscodeProfile(place), 'mcp.json'),
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
      project: 'open this folder, and switch causeway on in the settings for MCP',
      user: 'switch causeway on in the settings for MCP',
    },
  },
}

/** The folder of the default profile. */
function vscodeProfile({ env, platform = process.platform, home = homedir() }: Place): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User')
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Code', 'User')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'Code', 'User')
}
